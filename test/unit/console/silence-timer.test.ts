import { afterAll, afterEach, expect, jest, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'
import { until } from '../../support/until.js'

type Patience = { lookAfterMs: number; whenAwayMs: number; longestMs: number }
type SilenceTimer = { heard(): void; end(): void; isSilent: boolean }
type Module = { SilenceTimer: new (patience: Patience) => SilenceTimer }

/** A service that does not answer a look, but gives up all looks when it is asked to. */
const silentService = () => {
  const service = { looks: 0, answers: false }
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const aborting = new AbortController()
    setTimeout(() => aborting.abort(new DOMException('no answer', 'TimeoutError')), 50)
    return aborting.signal
  })
  jest.spyOn(globalThis, 'fetch').mockImplementation((_, init) => {
    service.looks += 1
    if (service.answers) return Promise.resolve(Response.json({}))
    return new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)))
  })
  return service
}

/** What a browser has, and Node has not. Other test files in this process must not find it. */
const ofBrowser = { document: { baseURI: 'http://localhost/' }, addEventListener: () => undefined, removeEventListener: () => undefined }
Object.assign(globalThis, ofBrowser)
const { SilenceTimer } = await loadModule<Module>('api/silence-timer.ts')

const impatient: Patience = { lookAfterMs: 10, whenAwayMs: 0, longestMs: Infinity }

afterEach(() => {
  jest.restoreAllMocks()
})
afterAll(() => {
  for (const name of Object.keys(ofBrowser)) Reflect.deleteProperty(globalThis, name)
})

test('a look without an answer is no verdict while all connections of the browser may be taken', async () => {
  const service = silentService()
  const watching = Array.from({ length: 6 }, () => new SilenceTimer(impatient))
  await until(() => service.looks > 2)
  expect(watching.map(({ isSilent }) => isSilent)).toEqual(Array(6).fill(false))
  for (const silence of watching) silence.end()
})

test('a look without an answer is no verdict while something comes on another connection', async () => {
  const service = silentService()
  const [silent, lively] = [new SilenceTimer(impatient), new SilenceTimer({ ...impatient, lookAfterMs: 60_000 })]
  const beats = setInterval(() => lively.heard(), 5)
  await until(() => service.looks > 2)
  expect(silent.isSilent).toBe(false)
  clearInterval(beats)
  for (const silence of [silent, lively]) silence.end()
})

test('a look without an answer says that the service is away if a connection was free, and nothing came', async () => {
  const service = silentService()
  const watching = Array.from({ length: 5 }, () => new SilenceTimer(impatient))
  await until(() => watching.every(({ isSilent }) => isSilent))
  const { looks } = service
  service.answers = true
  // The page goes on to look until the service is there.
  await until(() => service.looks > looks)
})
