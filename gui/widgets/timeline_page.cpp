#include "widgets/timeline_page.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>

#include "models/facts.h"
#include "models/text.h"
#include "timeline/event_search.h"

namespace pleat::widgets {

using trace::EventId;

namespace {

constexpr std::size_t kMostHits = 1'000;
constexpr timeline::ColourMode kModes[] = {
    timeline::ColourMode::Kind, timeline::ColourMode::Microbatch, timeline::ColourMode::Stage,
    timeline::ColourMode::Dimension, timeline::ColourMode::Name};

// What gui/timeline, which has no translations, calls the kinds of events and what it numbers.
[[maybe_unused]] constexpr const char* kLegendWords[] = {
    QT_TRANSLATE_NOOP("Legend", "forward"),
    QT_TRANSLATE_NOOP("Legend", "backward"),
    QT_TRANSLATE_NOOP("Legend", "input backward"),
    QT_TRANSLATE_NOOP("Legend", "weight backward"),
    QT_TRANSLATE_NOOP("Legend", "forward and backward as one"),
    QT_TRANSLATE_NOOP("Legend", "send, receive"),
    QT_TRANSLATE_NOOP("Legend", "collective"),
    QT_TRANSLATE_NOOP("Legend", "optimizer"),
    QT_TRANSLATE_NOOP("Legend", "data loading"),
    QT_TRANSLATE_NOOP("Legend", "kernel"),
    QT_TRANSLATE_NOOP("Legend", "copy, set"),
    QT_TRANSLATE_NOOP("Legend", "device runtime call"),
    QT_TRANSLATE_NOOP("Legend", "other"),
    QT_TRANSLATE_NOOP("Legend", "microbatch"),
    QT_TRANSLATE_NOOP("Legend", "stage"),
};

// "forward", "microbatch 3".
QString legendText(const std::string& text) {
    const std::size_t number = text.find_last_not_of("0123456789") + 1;
    const bool numbered = number < text.size() && number > 0 && text[number - 1] == ' ';
    const std::string word = numbered ? text.substr(0, number - 1) : text;
    const QString said = QCoreApplication::translate("Legend", word.c_str());
    return numbered ? said + QString::fromStdString(text.substr(number - 1)) : said;
}

QString ns(base::Duration duration) {
    return QString::fromStdString(timeline::durationText(duration));
}

}  // namespace

TimelinePage::TimelinePage(models::TraceSession& session, models::IterationModel& iteration,
                           QWidget* parent)
    : SessionView(session, parent),
      m_iterationModel(iteration),
      m_canvas(new TimelineCanvas(this)),
      m_minimap(new TimelineMinimap(this)),
      m_scroll(new QScrollBar(Qt::Vertical, this)),
      m_colours(new QComboBox(this)),
      m_iteration(new IterationBox(iteration, this)),
      m_arrows(new QCheckBox(tr("All a&rrows"), this)),
      m_path(new QCheckBox(tr("Critical &path"), this)),
      m_search(new QLineEdit(this)),
      m_hits(new QListWidget(this)),
      m_legend(new ColourLegend(this)),
      m_pathLegend(new ColourLegend(this)),
      m_facts(new QLabel(this)) {
    makeControls();
    makeLayout();
    connectControls();
    connectCanvas();
    makeCommands();
    connect(&session, &models::TraceSession::traceChanged, this, &TimelinePage::loadTrace);
    connect(&iteration, &models::IterationModel::changed, this, &TimelinePage::updatePath);
    setFocusProxy(m_canvas);
    loadTrace();
}

void TimelinePage::makeControls() {
    const QStringList titles = {tr("Kind"), tr("Microbatch"), tr("Stage"), tr("Dimension"),
                                tr("Name")};
    m_colours->addItems(titles);
    m_colours->setAccessibleName(tr("Colour events by"));
    m_colours->setFocusPolicy(Qt::TabFocus);
    m_search->setObjectName(QStringLiteral("timelineSearch"));  // the spin box has an editor too
    m_search->setAccessibleName(tr("Search events"));
    m_search->setPlaceholderText(tr("Search: a name, /expression/, or mb:3"));
    m_search->setClearButtonEnabled(true);
    m_hits->setAccessibleName(tr("Events found"));
    m_hits->setMaximumWidth(320);
    m_hits->setUniformItemSizes(true);
    m_hits->hide();
    m_scroll->setAccessibleName(tr("Lanes in view"));
    m_pathLegend->setAccessibleName(tr("Legend of the critical path"));
    m_pathLegend->hide();
    m_facts->setAccessibleName(tr("Event"));
    m_facts->setTextFormat(Qt::PlainText);
    m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void TimelinePage::connectControls() {
    connect(m_colours, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_canvas->setColourMode(kModes[std::max(index, 0)]);
        fillLegend();
    });
    connect(m_iteration, &IterationBox::chosen, m_canvas, &TimelineCanvas::goToIteration);
    connect(m_arrows, &QCheckBox::toggled, m_canvas, &TimelineCanvas::setAllArrows);
    connect(m_canvas, &TimelineCanvas::allArrowsChanged, m_arrows, &QCheckBox::setChecked);
    connect(m_path, &QCheckBox::toggled, m_canvas, &TimelineCanvas::setPathShown);
    connect(m_canvas, &TimelineCanvas::pathShownChanged, this, [this](bool shown) {
        m_path->setChecked(shown);
        m_pathLegend->setVisible(shown);
    });
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        search(m_search->text());
        if (m_hits->count() > 0) m_canvas->setFocus();  // to go on from the hit by keys
    });
    auto* leave = new QShortcut(Qt::Key_Escape, m_search);
    leave->setContext(Qt::WidgetShortcut);
    connect(leave, &QShortcut::activated, this, [this] {
        m_search->clear();
        m_hits->hide();
        m_canvas->setFocus();
    });
    connect(m_hits, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (item == nullptr) return;
        const EventId event(item->data(Qt::UserRole).toUInt());
        m_canvas->showReadable(event);
        m_canvas->select(event);
    });
}

void TimelinePage::makeCommands() {
    addToggle(m_arrows);
    addToggle(m_path);
    QAction* back = addCommand(tr("Undo navigation"));
    back->setShortcuts(QKeySequence::Undo);
    connect(back, &QAction::triggered, m_canvas, &TimelineCanvas::undoNavigation);
    QAction* forth = addCommand(tr("Redo navigation"));
    forth->setShortcuts(QKeySequence::Redo);
    connect(forth, &QAction::triggered, m_canvas, &TimelineCanvas::redoNavigation);
}

void TimelinePage::makeLayout() {
    auto* controls = new QHBoxLayout;
    auto* colourLabel = new QLabel(tr("&Colour by"), this);
    colourLabel->setBuddy(m_colours);
    auto* iterationLabel = new QLabel(tr("&Iteration"), this);
    iterationLabel->setBuddy(m_iteration);
    for (QWidget* widget :
         {static_cast<QWidget*>(colourLabel), static_cast<QWidget*>(m_colours),
          static_cast<QWidget*>(iterationLabel), static_cast<QWidget*>(m_iteration),
          static_cast<QWidget*>(m_arrows), static_cast<QWidget*>(m_path)})
        controls->addWidget(widget);
    controls->addWidget(m_search, 1);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_canvas, 1);
    middle->addWidget(m_scroll);
    middle->addWidget(m_hits);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->addLayout(controls);
    layout->addWidget(m_legend);
    layout->addWidget(m_pathLegend);
    layout->addWidget(m_minimap);
    layout->addLayout(middle, 1);
    layout->addWidget(m_facts);
}

void TimelinePage::connectCanvas() {
    connect(m_canvas, &TimelineCanvas::viewChanged, this, &TimelinePage::updateView);
    connect(m_scroll, &QScrollBar::valueChanged, m_canvas, &TimelineCanvas::setScroll);
    connect(m_minimap, &TimelineMinimap::centreWanted, this, [this](base::TraceTime time) {
        const timeline::Viewport& view = m_canvas->view();
        m_canvas->pan(timeline::pixelAt(view, time) - view.width / 2.0);
    });
    connect(m_canvas, &TimelineCanvas::searchWanted, this, [this] {
        m_search->setFocus();
        m_search->selectAll();
    });
    connect(m_canvas, &TimelineCanvas::eventPointed, this, &TimelinePage::updateFacts);
    connect(m_canvas, &TimelineCanvas::eventSelected, this, [this](EventId event) {
        m_notice.clear();
        updateFacts();
        emit eventSelected(event);
        if (!event.valid()) {
            emit selectionCleared();
            return;
        }
        models::Place place;
        place.event = event;
        emit placePointed(place);
    });
    connect(m_canvas, &TimelineCanvas::areaSelected, this,
            [this](const base::Interval& time, const std::vector<trace::LaneId>& lanes) {
                emit areaSelected(time, lanes);
                accountFor(time, lanes);
            });
    connect(m_canvas, &TimelineCanvas::bookmarksChanged, this, &TimelinePage::saveBookmarks);
    connect(m_canvas, &TimelineCanvas::bookmarkActivated, this, &TimelinePage::editNote);
}

QWidget* TimelinePage::picture() {
    (void)m_canvas->frame();  // exact before it is painted
    return m_canvas;
}

void TimelinePage::accountFor(const base::Interval& time, const std::vector<trace::LaneId>& lanes) {
    m_accounting.stop();
    if (time.empty() || !session().trace()) return;
    m_accounting.start(
        [run = session().index(), time, lanes](const std::stop_token&) {
            return models::accountArea(*run, lanes, time);
        },
        [this, time](const base::Result<std::vector<models::AreaAccount>>& accounts) {
            if (!accounts) {
                m_notice = models::shownText(accounts.error().message);
                return updateFacts();
            }
            emit factsWanted(tr("Selected area"), models::areaFacts(*accounts, time));
        });
}

void TimelinePage::loadTrace() {
    const std::shared_ptr<const trace::Trace> trace = session().trace();
    m_summarising.stop();
    m_accounting.stop();
    if (!trace) {
        m_preparing.stop();
        m_bookmarkFile.clear();
        m_wanted = {};
        return showData(nullptr, false);
    }
    const bool again = m_canvas->data() != nullptr;  // the same run, read again
    if (!again) m_notice = tr("The timeline is being prepared…");
    updateFacts();
    m_preparing.start(
        [trace, run = session().index()](const std::stop_token& stop) {
            return models::makeTimelineData(trace, *run, stop);
        },
        [this, again](std::shared_ptr<const models::TimelineData> made) {
            if (made) showData(made, again);
        });
}

void TimelinePage::showData(const std::shared_ptr<const models::TimelineData>& made,
                            bool keepPlace) {
    constexpr std::size_t kStripParts = 2'048;
    m_notice.clear();
    m_hits->clear();
    m_hits->hide();
    m_canvas->setData(made, keepPlace);
    m_minimap->setWhole(made ? made->index.span() : base::Interval());
    if (!keepPlace) m_minimap->setStrip({});
    updatePath();
    fillLegend();
    updateView();
    updateFacts();
    if (!made) return m_canvas->setBookmarks({});
    loadBookmarks();
    m_summarising.start(
        [made](const std::stop_token& stop) { return models::busyStrip(*made, kStripParts, stop); },
        [this](std::vector<std::uint8_t> strip) { m_minimap->setStrip(std::move(strip)); });
    if (!m_wanted.empty()) goTo(std::exchange(m_wanted, {}));
}

void TimelinePage::loadBookmarks() {
    if (session().request().files.empty()) return;
    m_bookmarkFile = models::Bookmarks::fileFor(session().request().files.front());
    auto loaded = models::Bookmarks::load(m_bookmarkFile);
    if (!loaded) {
        m_notice = models::shownText(loaded.error().message);
        m_bookmarkFile.clear();  // it is somebody else's
        updateFacts();
    }
    m_canvas->setBookmarks(loaded ? std::move(*loaded) : models::Bookmarks());
}

void TimelinePage::saveBookmarks() {
    if (m_bookmarkFile.empty()) {
        m_notice = tr("Bookmarks cannot be saved for this trace.");
    } else if (const auto saved = m_canvas->bookmarks().save(m_bookmarkFile); !saved) {
        m_notice =
            tr("The bookmark was not saved: %1").arg(models::shownText(saved.error().message));
    }
    updateFacts();
}

void TimelinePage::editNote(base::TraceTime bookmark) {
    QString note;
    for (const models::Bookmark& one : m_canvas->bookmarks().all())
        if (one.time == bookmark) note = one.note;
    bool ok = false;
    note =
        QInputDialog::getText(this, tr("Bookmark"), tr("Note (an empty one removes the bookmark)"),
                              QLineEdit::Normal, note, &ok);
    if (!ok) return;
    if (note.isEmpty()) {
        m_canvas->removeBookmark(bookmark);
    } else {
        m_canvas->setNote(bookmark, note);
    }
}

void TimelinePage::goTo(const models::Place& place) {
    if (!ready()) {
        m_wanted = place;
        return;
    }
    const trace::Trace& trace = m_canvas->data()->trace();
    for (std::size_t i = 0; i < trace.ranks().size() && place.rank >= 0; ++i) {
        const trace::RankId rank = trace::RankId::at(i);
        if (trace.ranks()[rank].number == place.rank) m_canvas->bringIntoView(rank);
    }
    if (place.event.valid() && place.event.index() < trace.eventCount()) {
        m_canvas->select(place.event);
    } else {
        // What was selected is not at this place; who asked says what is known of it.
        const QSignalBlocker quiet(m_canvas);
        m_canvas->select({});
    }
    // Last: the place may be where a device did what the event, a host's range, asked for.
    if (place.range) {
        m_canvas->showRange(*place.range);
    } else if (place.iteration >= 0) {
        m_canvas->goToIteration(place.iteration);
    }
    updateFacts();
}

void TimelinePage::search(const QString& typed) {
    if (!ready()) return;
    m_search->setText(typed);
    m_hits->clear();
    m_hits->setVisible(!typed.isEmpty());
    const trace::Trace& trace = m_canvas->data()->trace();
    const auto found =
        timeline::searchEvents(trace, timeline::parseQuery(typed.toStdString()), kMostHits, m_pool);
    if (!found) {
        m_notice = models::shownText(found.error().message);
        return updateFacts();
    }
    const base::TraceTime zero = m_canvas->data()->index.span().begin;
    const auto rankOf = [&](EventId event) {
        const trace::LaneId lane = trace.columns().lane[event.index()];
        return models::shownText(trace::rankTitle(trace.ranks()[trace.lanes()[lane].rank]));
    };
    for (const EventId event : found->events) {
        auto* item =
            new QListWidgetItem(tr("%1  %2  (%3)")
                                    .arg(ns(trace.event(event).span.begin - zero),
                                         models::shownText(trace.name(event), 100), rankOf(event)),
                                m_hits);
        item->setData(Qt::UserRole, event.index());
    }
    if (m_hits->count() > 0) m_hits->setCurrentRow(0);
    m_notice = tr("%1 found").arg(found->count);
    if (found->count > found->events.size())
        m_notice += tr("; the first %1 are listed").arg(found->events.size());
    if (found->undecided > 0)
        m_notice +=
            tr("; skipped %1 names on which the expression took too long").arg(found->undecided);
    updateFacts();
}

void TimelinePage::updateView() {
    const int page = m_canvas->rowsRect().height();
    const QSignalBlocker quiet(m_scroll);
    m_scroll->setRange(0, std::max(0, m_canvas->contentHeight() - page));
    m_scroll->setPageStep(page);
    m_scroll->setSingleStep(timeline::kRowHeight);
    m_scroll->setValue(m_canvas->scroll());
    m_minimap->setShown(timeline::visible(m_canvas->view()));
}

void TimelinePage::updateFacts() {
    const EventId event = m_canvas->pointed().valid() ? m_canvas->pointed() : m_canvas->selected();
    m_facts->setText(m_notice.isEmpty() ? m_canvas->factsOf(event) : m_notice);
}

void TimelinePage::updatePath() {
    const auto results = m_iterationModel.results();
    const bool same = results && ready() && results->trace.get() == &m_canvas->data()->trace();
    m_canvas->setPath(same ? std::shared_ptr<const timeline::PathMarks>(results, &results->marks)
                           : nullptr);
    fillPathLegend();
}

void TimelinePage::fillLegend() {
    QList<LegendChip> chips;
    if (m_canvas->colours() != nullptr) {
        for (const timeline::LegendEntry& entry : m_canvas->colours()->legend())
            chips.push_back({colourOf(timeline::palette(m_canvas->theme()).events[entry.colour]),
                             legendText(entry.text)});
    }
    m_legend->setChips(std::move(chips));
}

void TimelinePage::fillPathLegend() {
    const timeline::PathMarks* marks = m_canvas->path();
    const timeline::Palette& colours = timeline::palette(m_canvas->theme());
    QList<LegendChip> chips;
    if (marks == nullptr) {
        const QString& problem = m_iterationModel.problem();
        chips.push_back({colourOf(colours.critical),
                         problem.isEmpty() ? tr("the iteration is being analysed")
                                           : tr("no critical path: %1").arg(problem)});
    } else if (marks->path.empty()) {
        chips.push_back(
            {colourOf(colours.critical),
             tr("no critical path: %1")
                 .arg(models::shownText(m_iterationModel.results()->analysis.withoutGraph))});
    } else {
        chips.push_back(
            {colourOf(colours.critical),
             tr("critical path of iteration %1 (thin: a pause)").arg(marks->iteration)});
        chips.push_back(
            {colourOf(timeline::mixed(colours.events[1], colours.background,
                                      timeline::paleness(marks->palest, marks->palest) / 255.0)),
             tr("paler = more slack; the palest events have at least %1, a tenth of the iteration")
                 .arg(ns(marks->palest))});
    }
    m_pathLegend->setChips(std::move(chips));
}

QList<KeyHelp> TimelinePage::keys() const {
    return {{tr("W, S"), tr("zoom in, zoom out at the cursor")},
            {tr("A, D"), tr("move earlier, later")},
            {tr("F, Shift+F"), tr("show the whole run, the selection")},
            {tr("Up, Down, PgUp, PgDn"), tr("scroll lanes")},
            {tr("Home, End"), tr("go to start, end")},
            {tr("[, ]"), tr("follow an arrow back, forward")},
            {tr(", and ."), tr("previous, next event of the same kind")},
            {tr("Left, Right"), tr("previous, next event in the row")},
            {tr("R"), tr("all arrows, or only those of the selected event")},
            {tr("C"), tr("critical path in place; paler events have more slack")},
            {tr("M"), tr("bookmark; double-click its flag to write a note")},
            {tr("/"), tr("search")},
            {tr("Esc"), tr("clear the selection")},
            {tr("Ctrl+wheel, Shift+wheel"), tr("zoom, move")},
            {tr("Shift+drag"), tr("measure a time range and account for it")}};
}

}  // namespace pleat::widgets
