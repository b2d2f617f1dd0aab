import { describe, expect, test } from '@jest/globals'
import { catalogue } from '../../../events/catalogue/catalogue.js'
import { projections } from '../../../projections/all.js'
import { fitTogether, ledgerTables, stepsFor } from '../../../projections/tables.js'

describe('a transaction inserts into no table twice', () => {
  test.each([...catalogue.keys()])('events of type %s do not make it', (type) => {
    expect(fitTogether(new Set([type]))).toBe(true)
  })

  test('an erasure, which makes rows anew, shares none with what makes them', () => {
    expect(fitTogether(new Set(['PredictionsServed', 'DataErased']))).toBe(false)
    for (const type of ['OutcomesReported', 'AgentAnswered', 'AnswerJudged', 'AgentEvaluated', 'KnowledgeSearched'])
      expect(fitTogether(new Set([type, 'DataErased']))).toBe(false)
    expect(fitTogether(new Set(['AgentAnswered', 'AnswerJudged', 'AgentEvaluated']))).toBe(true)
    expect(fitTogether(new Set(['PredictionsServed', 'OutcomesReported', 'SkillCreated', 'ModelDeleted']))).toBe(true)
  })
})

test('of every statement that writes to a table of the ledger it is known which', () => {
  const writing = stepsFor(new Set(catalogue.keys())).filter(({ sql }) => /\b(INSERT|DELETE)\b/.test(sql))
  expect(writing.map(({ sql, writes }) => (writes ? '' : sql)).join('')).toBe('')
  expect(writing.length).toBeGreaterThanOrEqual(ledgerTables.length)
})

test('every table has the column by which its rows are found again', () => {
  for (const { name, place } of ledgerTables)
    expect(projections.some(({ init }) => new RegExp(`CREATE TABLE ${name} \\([^;]*\\b${place} BIGINT NOT NULL`).test(init))).toBe(true)
})
