import { expect, test } from '@jest/globals'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { limits } from '../../../src/basics/limits.js'
import { PredictionRecorder, type RequestPredictions } from '../../../src/models/serving/prediction-recorder.js'
import { origin, refusal, stream, withLog } from '../../support/log/log.js'

const served = (request: string, characters: number): RequestPredictions => ({
  model: stream(1),
  version: 1,
  origin: { ...origin, request },
  rows: [{ input: { text: 'x'.repeat(characters) }, output: { value: 1 } }],
  readAt: 0,
})
const most = limits.payloadMaxBytes

test('requests that come together share an event, and each row is kept under its request', () =>
  withLog(async ({ log, ledger }) => {
    const recorder = new PredictionRecorder(ledger, log)
    const positions = await Promise.all(['a', 'b', 'c'].map((request) => recorder.served(served(request, 1))))
    expect(positions).toEqual([1, 1, 1])
    const [event] = await log.readAll(0, 10)
    const { data } = parseEnvelope(event?.text ?? '')
    expect(data).toMatchObject({ rows: 3, requests: ['a', 'b', 'c'].map((request) => ({ request, rows: 1 })) })
    const payload = (await log.payload(data['payload'] as string))?.toString() ?? ''
    expect(JSON.parse(payload)).toEqual(['a', 'b', 'c'].map((request) => ({ request, row: 0, input: { text: 'x' }, output: { value: 1 } })))
  }))

test('large requests that come together are recorded in several events; one that is too large alone is refused alone', () =>
  withLog(async ({ log, ledger }) => {
    const recorder = new PredictionRecorder(ledger, log)
    const large = [1, 2, 3, 4].map((n) => recorder.served(served(`large ${n}`, most * 0.4)))
    const refused = refusal(recorder.served(served('too large', most)))
    const positions = await Promise.all(large)
    // On a busy machine one is committed before the next has come. Two of them fit into an event, and never three.
    const sizes = [...new Set(positions)].map((position) => positions.filter((one) => one === position).length)
    expect(sizes.length).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2)
    expect(await refused).toBe('too_large')
  }))
