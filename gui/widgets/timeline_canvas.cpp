#include "widgets/timeline_canvas.h"

#include <QAccessible>
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/text.h"

namespace pleat::widgets {

using timeline::Motion;
using timeline::Viewport;
using trace::EventId;
using trace::LaneId;
using trace::RankId;

TimelineCanvas::TimelineCanvas(QWidget* parent)
    : QWidget(parent), m_painter(std::make_unique<TimelinePainter>(m_theme)) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(kHeaderWidth + 120, kRulerHeight + 60);
    setAccessibleName(tr("Timeline"));
    setAccessibleDescription(tr("No event is selected."));
    m_motionEnd.setSingleShot(true);
    m_motionEnd.setInterval(500);
    connect(&m_motionEnd, &QTimer::timeout, this, [this] { m_navigator.endMotion(); });
}

QRect TimelineCanvas::rowsRect() const {
    return {kHeaderWidth, kRulerHeight, std::max(1, width() - kHeaderWidth),
            std::max(1, height() - kRulerHeight)};
}

base::Interval TimelineCanvas::whole() const {
    return m_data ? m_data->index.span() : base::Interval();
}

void TimelineCanvas::setData(std::shared_ptr<const models::TimelineData> data, bool keepPlace) {
    const base::Interval wholeBefore = whole();
    const std::shared_ptr<const models::TimelineData> before = std::move(m_data);
    const std::unique_ptr<timeline::LaneTree> treeBefore = std::move(m_tree);
    m_data = std::move(data);
    m_tree = m_data ? std::make_unique<timeline::LaneTree>(m_data->index) : nullptr;
    m_painter = std::make_unique<TimelinePainter>(m_theme);  // it knows names of the old trace
    const timeline::ColourMode mode = m_colours ? m_colours->mode() : timeline::ColourMode::Kind;
    m_colourings = {};
    m_colours = nullptr;
    m_selected = m_pointed = {};
    m_path.reset();  // it spoke of the old trace
    m_selectedArrows.clear();
    m_highlighted.clear();
    m_area.reset();
    setAccessibleDescription(tr("No event is selected."));
    m_navigator.resize(rowsRect().width(), rowsRect().height());
    if (m_data) setColourMode(mode);
    if (keepPlace && m_data && before && treeBefore) {
        restorePlace(*treeBefore, before->trace(), wholeBefore);
    } else {
        m_navigator.start(whole());
    }
    changed();
}

// Ranks are the same where their numbers are. Who looks at the end of a recording goes with it.
void TimelineCanvas::restorePlace(const timeline::LaneTree& before, const trace::Trace& trace,
                                  base::Interval wholeBefore) {
    const auto& ranks = m_data->trace().ranks();
    for (const RankId old : before.rankOrder()) {
        if (!before.collapsed(old)) continue;
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (ranks[RankId::at(i)].number == trace.ranks()[old].number)
                m_tree->setCollapsed(RankId::at(i), true);
    }
    Viewport view = m_navigator.view();
    if (view == timeline::fitted(wholeBefore, view.width)) {
        view = timeline::fitted(whole(), view.width);
    } else if (timeline::visible(view).end >= wholeBefore.end) {
        view.begin = view.begin + (whole().end - wholeBefore.end);
    }
    m_navigator.setWhole(whole());
    setView(view, Motion::Continues);
}

void TimelineCanvas::moved() {
    m_motionEnd.start();
    changed();
}

void TimelineCanvas::changed() {
    m_stale = true;
    m_navigator.setRows(contentHeight(), timeline::kRowHeight);
    point({});  // something else lies under the cursor now
    update();
    emit viewChanged();
}

const timeline::Frame& TimelineCanvas::frame() {
    if (m_data) buildFrame(timeline::kNoDeadline);
    return m_builder.frame();
}

const timeline::Frame& TimelineCanvas::frameInTime() {
    if (m_data) buildFrame(std::chrono::steady_clock::now() + timeline::kTimeForFrame);
    if (refining()) QTimer::singleShot(0, this, qOverload<>(&TimelineCanvas::update));
    return m_builder.frame();
}

Viewport TimelineCanvas::frameView() const {
    const double scale = devicePixelRatioF();
    return {view().begin, view().nsPerPixel / scale,
            static_cast<std::int32_t>(std::lround(view().width * scale))};
}

void TimelineCanvas::buildFrame(timeline::Deadline deadline) {
    const Viewport wanted = frameView();
    if (m_builder.frame().viewport != wanted) m_stale = true;  // the window came to another screen
    if (m_stale || !m_builder.exact()) m_pathStale = true;
    if (m_stale) {
        constexpr double kLabelWidth = 44;
        m_builder.build(
            m_data->index, *m_tree, wanted, *m_colours,
            {rowsRect().height(), scroll(),
             static_cast<std::int32_t>(std::lround(kLabelWidth * devicePixelRatioF())), deadline});
        m_stale = false;
    } else if (!m_builder.exact()) {
        m_builder.refine(deadline);
    }
}

const timeline::PathFrame& TimelineCanvas::pathFrame() {
    (void)frame();
    return pathOfFrame();
}

const timeline::PathFrame& TimelineCanvas::pathOfFrame() {
    if (std::exchange(m_pathStale, false)) {
        const bool shown = m_data && m_path && m_pathShown;
        m_pathFrame = shown ? timeline::layOutPath(*m_path, m_builder.frame(), m_data->index,
                                                   *m_tree, scroll())
                            : timeline::PathFrame();
    }
    return m_pathFrame;
}

void TimelineCanvas::setView(const Viewport& view, Motion motion) {
    m_navigator.show(view, motion);
    moved();
}

void TimelineCanvas::showWhole() {
    m_navigator.showWhole();
    moved();
}

void TimelineCanvas::showRange(base::Interval range) {
    constexpr double kMargin = 1.1;
    m_navigator.showRange(range, kMargin);
    moved();
}

void TimelineCanvas::zoom(double factor) {
    m_navigator.zoom(m_navigator.zoomCentre(), factor);
    moved();
}

void TimelineCanvas::pan(double pixels) {
    m_navigator.pan(pixels);
    moved();
}

void TimelineCanvas::setScroll(int scroll) {
    if (scroll == m_navigator.scroll() || !m_tree) return;
    m_navigator.scrollTo(scroll);
    changed();
}

void TimelineCanvas::undoNavigation() {
    if (m_navigator.undo()) moved();
}

void TimelineCanvas::redoNavigation() {
    if (m_navigator.redo()) moved();
}

void TimelineCanvas::showReadable(EventId event) {
    constexpr double kTooNarrow = 20, kWideEnough = 60;  // pixels
    if (!m_data || !event.valid()) return;
    const base::Interval span = m_data->trace().event(event).span;
    const auto length = static_cast<double>(span.length().ns);
    // A mark has no length that a zoom could show.
    if (length <= 0 || length >= kTooNarrow * view().nsPerPixel) return;
    Viewport view = m_navigator.view();
    view.nsPerPixel = std::max(length / kWideEnough, timeline::kFinestNsPerPixel);
    view.begin = span.begin;
    setView(timeline::panned(view, -view.width / 2.0), Motion::Jump);
}

bool TimelineCanvas::goToIteration(std::int32_t iteration) {
    if (!m_data) return false;
    for (const models::IterationMark& mark : m_data->iterations) {
        if (mark.iteration != iteration) continue;
        showRange(mark.span);
        return true;
    }
    return false;
}

void TimelineCanvas::select(EventId event) {
    if (!m_data || event == m_selected) return;
    m_selected = event;
    m_selectedArrows.clear();
    if (event.valid()) {
        m_selectedArrows = m_data->links.arrowsInto(event);
        const std::vector<timeline::Arrow> out = m_data->links.arrowsOutOf(event);
        m_selectedArrows.insert(m_selectedArrows.end(), out.begin(), out.end());
        revealEvent(event);
    }
    setAccessibleDescription(event.valid() ? factsOf(event) : tr("No event is selected."));
    QAccessibleEvent said(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&said);
    update();
    emit eventSelected(event);
}

void TimelineCanvas::clearSelection() {
    if (m_area) {
        m_area.reset();
        emit areaSelected({}, {});
    }
    if (m_selected.valid()) return select({});
    update();
    // Whoever still tells of something else, an area or hits, learns that it is over.
    emit eventSelected({});
}

// Moves no more than needed: what is in view stays where it is.
void TimelineCanvas::revealEvent(EventId event) {
    const trace::Event what = m_data->trace().event(event);
    const base::Interval shown = timeline::visible(view());
    if (what.span.end < shown.begin || what.span.begin >= shown.end) {
        Viewport view = m_navigator.view();
        view.begin = what.span.begin;
        view = timeline::panned(view, -view.width / 3.0);
        setView(view, Motion::Jump);
    }
    const timeline::PlacedRow place =
        m_tree->locate(what.lane, m_data->index.rowOf(event), scroll());
    if (m_tree->pinned(what.lane)) return;
    const int top = m_tree->pinnedHeight(), bottom = rowsRect().height();
    if (place.y < top) setScroll(scroll() + place.y - top - timeline::kRankHeight);
    if (place.y + place.height > bottom)
        setScroll(scroll() + place.y + place.height - bottom + timeline::kRankHeight);
}

void TimelineCanvas::bringIntoView(RankId rank) {
    if (!m_tree || m_data->index.lanesOf(rank).empty()) return;
    const timeline::PlacedRow place =
        m_tree->locate(m_data->index.lanesOf(rank).front(), 0, scroll());
    const int top = m_tree->pinnedHeight();
    if (place.y < top || place.y + place.height > rowsRect().height())
        setScroll(scroll() + place.y - top - timeline::kRankHeight - timeline::kLaneGap);
}

void TimelineCanvas::followArrow(timeline::Direction direction) {
    if (!m_selected.valid()) return;
    const bool forward = direction == timeline::Direction::Forward;
    for (const timeline::Arrow& arrow : m_selectedArrows) {
        if (forward && arrow.from == m_selected) return select(arrow.to);
        if (!forward && arrow.to == m_selected) return select(arrow.from);
    }
}

void TimelineCanvas::stepToSameKind(timeline::Direction direction) {
    if (!m_selected.valid()) return;
    const trace::Trace& trace = m_data->trace();
    // What has no kind has at least a name.
    const EventId next =
        m_data->kinds[m_selected] != 0
            ? timeline::stepBySameColour(trace, m_data->kinds, m_selected, direction)
            : timeline::stepBySameName(trace, m_selected, direction);
    if (next.valid()) select(next);
}

void TimelineCanvas::stepInRow(timeline::Direction direction) {
    if (!m_selected.valid()) return;
    const trace::Event from = m_data->trace().event(m_selected);
    const timeline::RowIndex& row = m_data->index.rows(from.lane)[m_data->index.rowOf(m_selected)];
    std::size_t at = row.positionAt(from.span.begin);
    while (at < row.size() && row.event(at) != m_selected) ++at;
    if (direction == timeline::Direction::Forward && at + 1 < row.size()) select(row.event(at + 1));
    if (direction == timeline::Direction::Backward && at > 0) select(row.event(at - 1));
}

void TimelineCanvas::setCollapsed(RankId rank, bool collapsed) {
    m_tree->setCollapsed(rank, collapsed);
    changed();
}

void TimelineCanvas::setCollapsed(LaneId lane, bool collapsed) {
    m_tree->setCollapsed(lane, collapsed);
    changed();
}

void TimelineCanvas::setAllCollapsed(bool collapsed) {
    if (!m_tree) return;
    m_tree->setAllCollapsed(collapsed);
    changed();
}

void TimelineCanvas::setPinned(LaneId lane, bool pinned) {
    m_tree->setPinned(lane, pinned);
    changed();
}

void TimelineCanvas::move(RankId rank, RankId before) {
    m_tree->move(rank, before);
    changed();
}

void TimelineCanvas::move(LaneId lane, LaneId before) {
    m_tree->move(lane, before);
    changed();
}

void TimelineCanvas::setColourMode(timeline::ColourMode mode) {
    if (!m_data) return;
    if (mode == timeline::ColourMode::Kind) {
        m_colours = &m_data->kinds;
    } else {
        auto& made = m_colourings[static_cast<std::size_t>(mode)];
        if (!made)
            made = std::make_unique<const timeline::EventColours>(m_data->trace(), mode, m_pool);
        m_colours = made.get();
    }
    changed();
}

void TimelineCanvas::setTheme(timeline::Theme theme) {
    m_theme = theme;
    m_painter = std::make_unique<TimelinePainter>(theme);
    update();
}

void TimelineCanvas::setAllArrows(bool all) {
    if (all == m_allArrows) return;
    m_allArrows = all;
    update();
    emit allArrowsChanged(all);
}

void TimelineCanvas::setPath(std::shared_ptr<const timeline::PathMarks> marks) {
    m_path = std::move(marks);
    m_pathStale = true;
    update();
}

void TimelineCanvas::setPathShown(bool shown) {
    if (shown == m_pathShown) return;
    m_pathShown = shown;
    m_pathStale = true;
    update();
    emit pathShownChanged(shown);
}

void TimelineCanvas::setBookmarks(models::Bookmarks bookmarks) {
    m_bookmarks = std::move(bookmarks);
    update();
}

void TimelineCanvas::addBookmark() {
    if (!m_data) return;
    const base::TraceTime time = m_selected.valid()
                                     ? m_data->trace().event(m_selected).span.begin
                                     : timeline::timeAt(view(), m_navigator.zoomCentre());
    setNote(time, {});
}

void TimelineCanvas::setNote(base::TraceTime bookmark, const QString& note) {
    m_bookmarks.add({bookmark, note});
    update();
    emit bookmarksChanged();
}

void TimelineCanvas::removeBookmark(base::TraceTime bookmark) {
    m_bookmarks.remove(bookmark);
    update();
    emit bookmarksChanged();
}

QString TimelineCanvas::factsOf(EventId event) const {
    if (!m_data || !event.valid()) return {};
    const trace::Trace& trace = m_data->trace();
    const trace::Event what = trace.event(event);
    const trace::Lane& lane = trace.lanes()[what.lane];
    return tr("%1, %2, at %3, %4 / %5")
        .arg(models::shownText(trace.name(event), 200),
             QString::fromStdString(timeline::durationText(what.span.length())),
             QString::fromStdString(timeline::durationText(what.span.begin - whole().begin)),
             models::shownText(trace::rankTitle(trace.ranks()[lane.rank])),
             models::shownText(trace::laneTitle(lane)));
}

}  // namespace pleat::widgets
