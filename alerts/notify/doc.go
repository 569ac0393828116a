// Package notify tells people what an audit found, where nobody evaluates
// alerting rules: through Alertmanager, chat, a pager, any webhook. It remembers
// in a [State] what it has told whom, so that what is over is told to be over,
// also by a process that knows nothing but the state. A [Deadman] is told that an
// audit ran, so that silence is noticed.
package notify
