import { join } from 'node:path'
import { checkAims, send, serviceOn } from './harness/harness.js'
import { modelOf, startModel } from './harness/language-model.js'
import { prepare, writeHistory } from './largest/prepare.js'
import { largestRequests, type Document } from './largest/requests.js'
import { toolsOf } from './largest/tools.js'
import { walk, type Walked } from './largest/walk.js'
import { makeDirectory, removeDirectory } from './harness/processes.js'

const skills = Number(process.env['BENCH_SKILLS'] ?? 20_000)
const agents = Number(process.env['BENCH_AGENTS'] ?? 2_000)
const chatbots = Number(process.env['BENCH_CHATBOTS'] ?? 20_000)
const boundMs = 250
/** The longest wait for an answer: by then, whatever blocks the server is over. */
const patienceMs = 10_000

const lineOf = ({ name, status, sent, got, tookMs, ranMs, wallMs, busyMs }: Walked): string => {
  const [sizeIn, sizeOut] = [sent, got].map((bytes) => (bytes / 1e6).toFixed(2))
  const held = `${ranMs.toFixed(0).padStart(6)} ms of ${busyMs.toFixed(0)}, ${wallMs.toFixed(0)} by the clock`
  return `${held}  ${name}: ${status}, ${sizeIn} MB in, ${sizeOut} MB out, ${tookMs.toFixed(0)} ms`
}

/**
 * Sends the largest accepted input to every route, tool and statement, and prints how long each blocked other requests, the worst first:
 * how long the server ran in one stretch and in all, and the longest stretch by the clock. The process ends with an error if a stretch is
 * over the bound, or if there is no input for something.
 */
export const block = async (): Promise<void> => {
  const directory = makeDirectory('delay')
  const socket = join(directory, 'delay')
  const model = await startModel()
  const data = join(directory, 'data')
  await writeHistory(data, { chars: 999_000, runs: 300, files: 20_000 })
  const target = await serviceOn(data, { DELAY_SOCKET: socket, MCP_WRITE: 'true' }, ['bench/harness/delay-probe.js'])
  try {
    const ids = await prepare(target, { skills, agents, chatbots, changes: 100, share: 1, model: modelOf(model.url) })
    const document = (await send(target, 'GET', '/api/openapi.json')) as Document
    const { requests, missing } = largestRequests(document, await toolsOf(target), ids)
    const walked: Walked[] = []
    for (const request of requests) walked.push(await walk(target, socket, request, { share: 1, patienceMs }))
    walked.sort((a, b) => b.ranMs - a.ranMs)
    const over = walked.filter(({ ranMs }) => ranMs > boundMs)
    console.log(
      `block: the event loop is held up at most ${walked[0]?.ranMs.toFixed(0)} ms; ${walked.length} requests, ${over.length} over ${boundMs} ms`,
    )
    for (const one of walked.slice(0, Math.max(20, over.length))) console.log(lineOf(one))
    const refused = walked.filter(({ status, refusal }) => !status.startsWith('2') || refusal !== '')
    console.log(`${refused.length} were refused; these say nothing about the work on what is accepted:`)
    for (const { name, status, refusal } of refused) console.log(`  ${status}  ${name}: ${refusal}`)
    for (const one of missing) console.log(`not asked: ${one}; bench/largest has none of it, or the service does not have it`)
    const slowest = walked.reduce((most, one) => (one.wallMs > most.wallMs ? one : most))
    const aim = `at most ${boundMs} ms by the clock, waits for the disk included; it was ${slowest.wallMs.toFixed(0)} ms at ${slowest.name}`
    checkAims([[aim, slowest.wallMs <= boundMs]])
    if (missing.length + over.length > 0) process.exitCode = 1
  } finally {
    await target.stop()
    model.stop()
    removeDirectory(directory)
  }
}
