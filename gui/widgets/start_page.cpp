#include "widgets/start_page.h"

#include <QVBoxLayout>

namespace pleat::widgets {

using State = models::TraceSession::State;

StartPage::StartPage(models::TraceSession& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_title(new QLabel(this)),
      m_text(new QLabel(this)),
      m_progress(new QProgressBar(this)),
      m_open(new QPushButton(tr("&Open a trace…"), this)),
      m_cancel(new QPushButton(tr("&Cancel"), this)) {
    QFont large = m_title->font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    m_title->setFont(large);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_progress->setAccessibleName(tr("Progress of loading"));
    auto* layout = new QVBoxLayout(this);
    layout->addStretch(1);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{m_title, m_text, m_progress, m_open, m_cancel}) {
        widget->setMaximumWidth(640);
        widget->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
        layout->addWidget(widget, 0, Qt::AlignHCenter);
    }
    m_text->setMinimumWidth(480);
    m_progress->setMinimumWidth(480);
    layout->addStretch(2);
    connect(m_open, &QPushButton::clicked, this, &StartPage::openWanted);
    connect(m_cancel, &QPushButton::clicked, &m_session, &models::TraceSession::cancel);
    connect(&m_session, &models::TraceSession::stateChanged, this, &StartPage::update);
    connect(&m_session, &models::TraceSession::progressChanged, this, &StartPage::updateProgress);
    update();
}

void StartPage::update() {
    const State state = m_session.state();
    m_progress->setVisible(state == State::Loading);
    m_cancel->setVisible(state == State::Loading);
    m_open->setVisible(state != State::Loading);
    switch (state) {
        case State::Empty:
            m_title->setText(tr("No trace is open"));
            m_text->setText(
                tr("Open or drop here a *.pleat recording; files from PyTorch's profiler, in "
                   "Chrome's trace format or from Nsight Systems (SQLite); or a folder of "
                   "them.\n\nTo record your own run:\n"
                   "pleat record -o run.pleat -- COMMAND"));
            break;
        case State::Loading:
            m_title->setText(tr("Loading"));
            m_text->setText(m_session.name());
            updateProgress();
            break;
        case State::Failed:
            m_title->setText(tr("Cannot open this trace"));
            m_text->setText(m_session.error());
            break;
        case State::Loaded:
            break;
    }
}

void StartPage::updateProgress() {
    const double share = m_session.progress();
    m_progress->setRange(0, share < 0 ? 0 : 1'000);  // an empty range: busy
    if (share >= 0) m_progress->setValue(static_cast<int>(share * 1'000));
}

}  // namespace pleat::widgets
