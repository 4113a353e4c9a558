// The answer: where the iteration went, in the order of the text report, the replay error first.
// Every figure leads to its place.
#pragma once

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

#include "widgets/figure_view.h"
#include "widgets/session_view.h"
#include "widgets/stacked_bars.h"

namespace pleat::widgets {

class AnswerPage : public SessionView {
    Q_OBJECT

  public:
    AnswerPage(models::TraceSession& session, QWidget* parent);

    void goTo(const models::Place&) override {}
    [[nodiscard]] bool shows(const models::Place&) const override { return false; }
    [[nodiscard]] QList<KeyHelp> keys() const override;

    [[nodiscard]] QString headline() const { return m_headline->text(); }
    [[nodiscard]] StackedBars& bars() { return *m_bars; }
    // By the id it was added under: ranks, iterations, stragglers, transfers, causes, waits.
    [[nodiscard]] FigureView* table(const QString& id) const;
    // The whole answer, not only what is scrolled into view.
    [[nodiscard]] QWidget* picture() override { return m_content; }

  private:
    struct Section {
        QLabel* title;
        FigureView* table;
        QString none;  // what to say instead of an empty table; empty: show nothing
        QString heading;
    };
    void addSection(const QString& id, const QString& heading, const QString& none);
    void update();
    void fill(const QString& id, models::Figures figures);

    QWidget* m_content;
    QVBoxLayout* m_layout;
    QLabel* m_headline;
    QLabel* m_legend;
    StackedBars* m_bars;
    std::vector<Section> m_sections;
};

}  // namespace pleat::widgets
