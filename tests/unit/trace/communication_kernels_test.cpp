// Names of kernels as profilers write them, of libraries and of models, and what they are.
#include "trace/communication_kernels.h"

#include <gtest/gtest.h>

#include <array>

#include "trace/communication_table.h"

namespace pleat::trace {
namespace {

TEST(CommunicationKernels, ANameIsReadAsWords) {
    EXPECT_EQ(wordsOfKernel("void deep_ep::intranode::dispatch<8, 768>(int4*, float)"),
              "::_deep_ep_::_intranode_::_dispatch_::");
    EXPECT_EQ(
        wordsOfKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
        "::_nccl_dev_kernel_all_reduce_sum_f32_ring_ll_::");
    EXPECT_EQ(wordsOfKernel("tensorrt_llm::kernels::moeA2ADispatchKernel(int)"),
              "::_tensorrt_llm_::_kernels_::_moe_all_to_all_dispatch_kernel_::");
    EXPECT_EQ(wordsOfKernel("void (anonymous namespace)::allreduce2stage<int>(int)"),
              "::_all_reduce_2stage_::");
    EXPECT_EQ(wordsOfKernel("moeAlltoAllKernel"), "::_moe_all_to_all_kernel_::");
    EXPECT_EQ(wordsOfKernel("%all-reduce.1 = f32[8]{0} all-reduce(f32[8]{0} %p)"),
              "::_all_reduce_::");
    EXPECT_EQ(wordsOfKernel("_ZN7deep_ep9intranode7combineILi8EEEvPi"),
              "::_deep_ep_::_intranode_::_combine_::")
        << "a mangled name";
    EXPECT_EQ(wordsOfKernel(""), "::_::");
    EXPECT_EQ(wordsOfKernel("void f<(unbalanced"), "::_f_::");
}

struct Known {
    const char* name;
    Operation operation;
    Dimension dimension;
};

TEST(CommunicationKernels, LibrariesAreKnownWithTheirOperation) {
    using enum Operation;
    const auto known = std::to_array<Known>({
        {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", AllReduce, Dimension::Other},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", Other, Dimension::Other},
        {"ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)", AllReduce,
         Dimension::Other},
        {"ncclSymkDevKernel_ReduceScatter_LL_sum_f32", ReduceScatter, Dimension::Other},
        {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", Other, Dimension::Other},
        {"rcclGenericKernel<1, false>(ncclDevComm*, unsigned long, ncclWork*)", Other,
         Dimension::Other},
        {"mscclKernel_Sum_float_Simple_false", Other, Dimension::Other},
        {"void mscclpp::allreduce7<float>(float*)", AllReduce, Dimension::Other},
        {"deep_ep::internode_ll::combine<1, 8>(void*)", AllToAll, Dimension::Ep},
        {"void deep_ep::intranode::barrier<8>(int**)", Barrier, Dimension::Ep},
        {"void deep_ep::internode::notify_dispatch<false, 8>(int const*)", AllToAll, Dimension::Ep},
        {"void dpsk::ep::intranode::combine<__nv_bfloat16, 8>(int4*)", AllToAll, Dimension::Ep},
        {"void uccl::internode_ll::dispatch<true>(void*)", AllToAll, Dimension::Ep},
        {"nvshmemi_transfer_allgather", AllGather, Dimension::Other},
        {"barrier_on_stream_kernel_threadgroup(int, int)", Barrier, Dimension::Other},
        {"void alltoall_on_stream_kernel<int, 0>(int*)", AllToAll, Dimension::Other},
        {"void rdxn_on_stream_kernel<float, 0>(int)", AllReduce, Dimension::Other},
        {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 16, 8>(float**)",
         AllReduce, Dimension::Other},
        {"void (anonymous namespace)::multimem_all_gather_kernel<16>(char*)", AllGather,
         Dimension::Other},
        {"void (anonymous namespace)::multimem_one_shot_reduce_kernel<float, 16>(float*)", Reduce,
         Dimension::Other},
        {"void c10d::intra_node_comm::oneShotAllReduceKernel<8u, true>(float*)", AllReduce,
         Dimension::Other},
        {"c10d::symmetric_memory::barrier_kernel(unsigned int**, unsigned long)", Barrier,
         Dimension::Other},
        {"void sglang::cross_device_reduce_2stage<float, 8>(sglang::RankData*)", AllReduce,
         Dimension::Tp},
        {"void aiter::reduce_scatter_cross_device_store<float, 8>(float*)", ReduceScatter,
         Dimension::Tp},
        {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half>>()",
         AllReduce, Dimension::Tp},
        {"void tensorrt_llm::kernels::twoShotAllReduceKernel<float, 8>(AllReduceParams)", AllReduce,
         Dimension::Tp},
        {"void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8>(float*)",
         AllReduce, Dimension::Tp},
        {"void tensorrt_llm::kernels::moe_comm::moeA2ACombineKernel<8>(int)", AllToAll,
         Dimension::Ep},
        {"userbuffers_fp16_sum_inplace_gpu_mc_ag<8>(int, int)", AllGather, Dimension::Tp},
        {"userbuffers_fp16_sum_inplace_gpu_rw<8>(int, int)", AllReduce, Dimension::Tp},
        {"kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", Other, Dimension::Tp},
        {"mori::moe::EpDispatchIntraNodeKernel<__hip_bfloat16>(args)", AllToAll, Dimension::Ep},
        {"EpCombineInterNodeV1Kernel_bf16", AllToAll, Dimension::Ep},
        {"oneccl_allreduce_large<sycl::half>", AllReduce, Dimension::Other},
        {"hcom_allReduce__123_0", AllReduce, Dimension::Other},
        {"all-gather-start.12", AllGather, Dimension::Other},
        {"collective-permute.3", Other, Dimension::Other},
        {"recv-done.2", Receive, Dimension::Other},
        {"my_team::FastAllGather<8>(int)", AllGather, Dimension::Other},
    });
    for (const auto& [name, operation, dimension] : known) {
        const auto found = communicationKernel(name);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(found->operation, operation) << name << ": " << toString(found->operation);
        EXPECT_EQ(found->dimension, dimension) << name << ": " << toString(found->dimension);
    }
}

TEST(CommunicationKernels, WhatComputesOnOneDeviceIsNone) {
    for (const char* name :
         {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, AllReduceOp>>(X)",
          "void at::native::vectorized_gather_kernel<16, long>(char*)",
          "void at::native::(anonymous namespace)::indexSelectLargeIndex<float>(X)",
          "void at::native::elementwise_kernel<128, 2, ncclDevKernel_AllReduce>(int)",
          "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float>>(float*)",
          "ampere_sgemm_128x64_tn",
          "all_reduce_max_rows_kernel(float*, int)",
          "void my::reduce_scatter_add_elements_kernel<float>(float*)",
          "void splitKreduce_kernel<32, 16>(float*)",
          "triton_red_fused_all_reduce_mul_sum_0",
          "triton_poi_fused_all_gather_cat_1",
          "void vllm::moe::moe_align_block_size_kernel<int>(int*)",
          "void moe_permute_kernel<float>(float*)",
          "void permute_dispatch_tokens<4>(int)",
          "block_all_reduce_sum_f32_f32_kernel",
          "void softmaxWarpAllReduce<float>(float*)",
          "void fused_allclose_kernel(float*)",
          "small_reduce_kernel",
          "void overall_gather(int)",
          "void at::native::(anonymous namespace)::broadcast_tensors_kernel(int)",
          "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)",
          "void c10d::checkForNaN<float>(float*)",
          "reduce_scatter_copy_in_kernel",
          "void scatter_gather_elementwise_kernel<128>(int)",
          "loop_broadcast_fusion.3",
          "input_reduce_fusion",
          "copy-start.1",
          "sendmail",
          "Memset (Device)",
          ""}) {
        EXPECT_FALSE(communicationKernel(name)) << name;
    }
}

TEST(CommunicationKernels, EveryRowOfTheTableCanBeRead) {
    ASSERT_GT(communicationTable().size(), 50U);
    for (const CommunicationRow& row : communicationTable()) {
        EXPECT_FALSE(row.pattern.empty());
        const bool named = row.operation == "named" || row.operation == "none";
        EXPECT_TRUE(named || parseOperation(row.operation)) << row.pattern;
        EXPECT_TRUE(parseDimension(row.dimension)) << row.pattern;
    }
}

}  // namespace
}  // namespace pleat::trace
