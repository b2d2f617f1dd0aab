import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { churn, churnHad, hash, otherHash, shopCreated } from './samples.js'

const answer = { model: churn, version: 1, payload: hash, statement: null, read_at: 7 }
const predictions = [
  { position: 5, version: 1, request: 'a', rows: [0, 2] },
  { position: 6, version: 1, request: 'b', rows: [1] },
]
const report = { type: 'ReportOutcomes', data: { model: churn, name: 'Churn', predictions, payload: hash } } as const

describe('RecordPredictions', () => {
  test('names the requests that have an id, and counts the rows of all of them', () => {
    const requests = [
      { request: 'a', rows: 2 },
      { request: null, rows: 3 },
      { request: 'b', rows: 1 },
    ]
    const named = [
      { request: 'a', rows: 2 },
      { request: 'b', rows: 1 },
    ]
    given(shopCreated, ...churnHad())
      .when({ type: 'RecordPredictions', data: { ...answer, requests } })
      .then({ type: 'PredictionsServed', data: { ...answer, requests: named, rows: 6 } })
  })

  test('a scoring inside a query is a receipt: its rows are counted, and none is kept', () => {
    const receipt = { ...answer, payload: null, statement: 'SELECT 1' }
    given(shopCreated, ...churnHad())
      .when({ type: 'RecordPredictions', data: { ...receipt, requests: [{ request: 'a', rows: 900 }] } })
      .then({ type: 'PredictionsServed', data: { ...receipt, requests: [{ request: 'a', rows: 900 }], rows: 900 } })
  })

  test('what was answered is recorded, although its model is gone since', () => {
    given(shopCreated, ...churnHad({ type: 'ModelDeleted', data: {} }))
      .when({ type: 'RecordPredictions', data: { ...answer, requests: [] } })
      .then({ type: 'PredictionsServed', data: { ...answer, requests: [], rows: 0 } })
  })
})

describe('ReportOutcomes', () => {
  test('counts the rows that truths are reported of', () => {
    given(shopCreated, ...churnHad())
      .when(report)
      .then({ type: 'OutcomesReported', data: { model: churn, rows: 3, predictions, payload: hash } })
  })

  test('a later report of the same rows is an event of its own', () => {
    given(shopCreated, ...churnHad())
      .when({ ...report, data: { ...report.data, payload: otherHash } })
      .then({ type: 'OutcomesReported', data: { model: churn, rows: 3, predictions, payload: otherHash } })
  })

  test('of a model that is gone nothing is reported', () => {
    given(shopCreated).when(report).refuses('not_found', 'Churn')
    given(shopCreated, ...churnHad({ type: 'ModelDeleted', data: {} }))
      .when(report)
      .refuses('not_found', 'Churn')
  })
})
