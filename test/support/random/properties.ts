import fc from 'fast-check'

// On a busy machine, the cases or the search for the smallest counterexample may take long. A property therefore ends before its test times
// out, and reports the passed cases, or the smallest failed case so far with its seed.
// oxlint-disable-next-line typescript/no-deprecated -- the type of this function does not take the plugin that follows it
fc.configureGlobal({ interruptAfterTimeLimit: 25 * 60_000 })

export { fc }
