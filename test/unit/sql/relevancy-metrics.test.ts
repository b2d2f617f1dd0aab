import { expect, test } from '@jest/globals'
import { relevancyOf } from '../../../src/sql/facade/relevancy-metrics.js'

test('a question whose best chunk is first counts fully, and one whose is second by half', () => {
  const { avg_relevancy, mean_mrr, avg_first_relevant_position, hit_at_k, avg_ndcg } = relevancyOf(
    [
      [1, 0],
      [0, 1],
    ],
    2,
  )
  expect({ avg_relevancy, mean_mrr, avg_first_relevant_position }).toEqual({
    avg_relevancy: 0.5,
    mean_mrr: 0.75,
    avg_first_relevant_position: 0.5,
  })
  expect(hit_at_k).toBe('{"0":0.5,"1":1}')
  expect(avg_ndcg).toBeCloseTo((1 + 1 / Math.log2(3)) / 2, 12)
})

test('scores that are spread evenly have the most entropy, and nothing relevant has no place', () => {
  const { avg_entropy, avg_first_relevant_position, bin_precision_at_k } = relevancyOf([[0.4, 0.4]], 2)
  expect(avg_entropy).toBeCloseTo(Math.log(2), 12)
  expect([avg_first_relevant_position, bin_precision_at_k]).toEqual([null, '{"0":0,"1":0}'])
})

test('questions for which nothing was found, or no question at all, give numbers all the same', () => {
  for (const scores of [[], [[]], [[0, 0]]])
    expect(relevancyOf(scores, 1)).toMatchObject({ avg_relevancy: 0, mean_mrr: 0, avg_entropy: 0, avg_ndcg: 0, hit_at_k: '{"0":0}' })
})
