import { readFileSync, writeSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// Loaded into each process of the service by count-ways.ts. At SIGUSR2, before a message to its parent, and when the process ends, it
// writes a line with the source files of which any function was called since the line before.

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

/** Where count-ways.ts has opened a file for this process: some processes may open none to write. */
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
if (isMainThread) process.on('SIGUSR2', note)
process.on('exit', note)
// A training is ended as soon as it has said that it is done.
const send = process.send?.bind(process) as ((...words: unknown[]) => boolean) | undefined
if (send)
  process.send = (...words: unknown[]) => {
    note()
    return send(...words)
  }
// Processes that this one starts load the same.
process.execPath = process.env['COUNTED_NODE'] ?? process.execPath
