#include "widgets/answer_page.h"

#include <QScrollArea>
#include <set>
#include <utility>

#include "models/answer_figures.h"
#include "widgets/colours.h"

namespace pleat::widgets {
namespace {

constexpr int kMostRows = 12;  // of a table on the page; the rest is scrolled to

// "■ compute ■ moving data …", of the parts that occur.
QString legendOf(const std::vector<models::Bar>& bars) {
    std::set<std::size_t> parts;
    for (const models::Bar& bar : bars) {
        for (const models::BarSegment& segment : bar.segments) parts.insert(segment.part);
    }
    QString legend;
    for (const std::size_t part : parts) {
        legend +=
            QStringLiteral("<span style=\"color:%1\">■</span>&nbsp;%2 &nbsp; ")
                .arg(partColour(part).name(), models::barPartName(part).toHtmlEscaped().replace(
                                                  QLatin1Char(' '), QStringLiteral("&nbsp;")));
    }
    return legend;
}

}  // namespace

AnswerPage::AnswerPage(models::TraceSession& session, QWidget* parent)
    : SessionView(session, parent),
      m_content(new QWidget),
      m_layout(new QVBoxLayout(m_content)),
      m_headline(new QLabel(m_content)),
      m_legend(new QLabel(m_content)),
      m_bars(new StackedBars(m_content)) {
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_content);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_headline->setWordWrap(true);
    m_legend->setWordWrap(true);
    m_layout->addWidget(m_headline);
    m_layout->addWidget(m_bars);
    m_layout->addWidget(m_legend);
    connect(m_bars, &StackedBars::placeChosen, this, &SessionView::placeChosen);
    addSection(QStringLiteral("ranks"), tr("Each rank, per iteration"), {});
    addSection(QStringLiteral("causes"), tr("The bubble, by cause"), {});
    addSection(QStringLiteral("transfers"), tr("Communication (all ranks, per iteration)"),
               tr("None was recorded, so overlap cannot be computed."));
    addSection(QStringLiteral("waits"), tr("Collective waits, by late rank"), {});
    addSection(QStringLiteral("stragglers"), tr("Stragglers"),
               tr("None: in the iterations replayed, no rank, stage, microbatch, link or operation "
                  "costs 1 % by itself."));
    addSection(QStringLiteral("iterations"), tr("Iterations"), tr("None was recorded."));
    m_layout->addStretch(1);
    connect(&session, &models::TraceSession::resultsChanged, this, &AnswerPage::update);
    update();
}

QList<KeyHelp> AnswerPage::keys() const {
    return {{tr("arrow keys"), tr("move through the parts of the bars and the rows of the tables")},
            {tr("Enter"), tr("show the events behind a figure")}};
}

FigureView* AnswerPage::table(const QString& id) const {
    return m_content->findChild<FigureView*>(id);
}

void AnswerPage::addSection(const QString& id, const QString& heading, const QString& none) {
    Section section{new QLabel(m_content), new FigureView(m_content), none, heading};
    section.table->setObjectName(id);
    section.table->setAccessibleName(heading);
    section.table->setHeightForRows(kMostRows);
    section.title->setTextFormat(Qt::PlainText);
    m_layout->addWidget(section.title);
    m_layout->addWidget(section.table);
    connect(section.table, &FigureView::placeChosen, this, &SessionView::placeChosen);
    m_sections.push_back(section);
}

void AnswerPage::update() {
    const auto results = session().results();
    const auto trace = session().trace();
    if (!results || !trace) {
        m_headline->setText(trace ? tr("Analysing…") : QString());
        m_bars->setBars({});
        m_legend->clear();
        for (const Section& section : m_sections) {
            section.title->hide();
            section.table->hide();
        }
        return;
    }
    m_headline->setText(models::headlines(*results).join(QLatin1Char('\n')));
    m_bars->setBars(models::rankBars(*results));
    m_legend->setText(legendOf(m_bars->bars()));
    fill(QStringLiteral("ranks"), models::rankFigures(*results));
    fill(QStringLiteral("causes"), models::causeFigures(*results));
    fill(QStringLiteral("transfers"), models::transferFigures(*results, *trace));
    fill(QStringLiteral("waits"), models::waitFigures(*results));
    fill(QStringLiteral("stragglers"), models::stragglerFigures(*results));
    fill(QStringLiteral("iterations"), models::iterationFigures(*results));
}

void AnswerPage::fill(const QString& id, models::Figures figures) {
    for (const Section& section : m_sections) {
        if (section.table->objectName() != id) continue;
        const bool empty = figures.rows.empty();
        section.table->setFigures(std::move(figures));
        section.table->setVisible(!empty);
        section.title->setVisible(!empty || !section.none.isEmpty());
        section.title->setText(empty ? tr("%1: %2").arg(section.heading, section.none)
                                     : section.heading);
    }
}

}  // namespace pleat::widgets
