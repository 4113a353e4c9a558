<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>AnswerFigures</name>
    <message numerus="yes">
        <source>Iteration time %1 ms median, %2 ms p90, %3 ms mean over %n iteration(s)</source>
        <translation>
            <numerusform>Iteration time %1 ms median, %2 ms p90, %3 ms mean over %n iteration</numerusform>
            <numerusform>Iteration time %1 ms median, %2 ms p90, %3 ms mean over %n iterations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>pleat::widgets::SqlPage</name>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%n row</numerusform>
            <numerusform>%n rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>pleat::widgets::TimelineCanvas</name>
    <message numerus="yes">
        <source>%n more arrow(s) are not drawn.</source>
        <translation>
            <numerusform>%n more arrow is not drawn.</numerusform>
            <numerusform>%n more arrows are not drawn.</numerusform>
        </translation>
    </message>
</context>
</TS>
