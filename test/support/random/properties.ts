import fc from 'fast-check'

// Whatever a busy machine or the search for the smallest counterexample takes, a property tells what it found before its test runs out
// of time: the cases that passed, or the smallest one so far that did not, with its seed.
// oxlint-disable-next-line typescript/no-deprecated -- the type of this function does not take the plugin that follows it
fc.configureGlobal({ interruptAfterTimeLimit: 150_000 })

export { fc }
