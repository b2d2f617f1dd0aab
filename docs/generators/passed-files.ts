import { readFileSync, writeSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// Loaded into each process of the service by count-ways.ts. It writes a line at SIGUSR2, before a message to the parent process, and when
// the process ends. The line names the source files whose functions ran since the line before.

/** The place of every source file in a bundle, as esbuild notes it. */
const sourcesOf = (url: string): { file: string; start: number }[] =>
  [...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ ((?:src|events|projections)\/\S+\.c?ts)$/gm)].map(
    ({ 1: file = '', index }) => ({
      file,
      start: index,
    }),
  )

const known = new Map<string, ReturnType<typeof sourcesOf>>()

const filesIn = ({ url, functions }: Profiler.ScriptCoverage): string[] => {
  if (!url.includes('/dist/bin/')) return []
  const sources = known.get(url) ?? sourcesOf(url)
  known.set(url, sources)
  const called = functions.flatMap(({ ranges: [range] }) => (range && range.count > 0 && range.startOffset > 0 ? [range.startOffset] : []))
  return called.flatMap((offset) => sources.findLast(({ start }) => start < offset)?.file ?? [])
}

/** The file that count-ways.ts has opened for this process: some processes must not open files to write. */
const out = 9
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
const note = () =>
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error
    writeSync(out, `${JSON.stringify([...new Set(coverage.result.flatMap(filesIn))])}\n`)
  })
/** Forgets the functions that ran since then: the service's own listener of the signal, which runs after this one. */
const forget = () => session.post('Profiler.takePreciseCoverage')
if (isMainThread)
  process.on('SIGUSR2', () => {
    note()
    queueMicrotask(forget)
  })
process.on('exit', note)
// The service ends the process of a training as soon as the process has said that it is done.
const send = process.send?.bind(process) as ((...words: unknown[]) => boolean) | undefined
if (send)
  process.send = (...words: unknown[]) => {
    note()
    return send(...words)
  }
// Processes that this one starts load the same file.
process.execPath = process.env['COUNTED_NODE'] ?? process.execPath
