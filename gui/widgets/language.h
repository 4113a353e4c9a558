// The language of the window: what translations there are for it, ours and Qt's own. A language
// without a file of ours is shown in English (gui/translations/pleat_<language>.ts).
#pragma once

#include <QLocale>

namespace pleat::widgets {

// For the application that there is, from now on; called once, before windows are made.
void installLanguage(const QLocale& locale);

}  // namespace pleat::widgets
