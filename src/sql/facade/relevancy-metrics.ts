import type { JsonObject } from '../../../events/common.js'

/** The lowest score of a relevant chunk. */
const relevantFrom = 0.5

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length)

/** The entropy of the scores over the places, in nats: 0 when one place has the whole score, and when there is no score. */
const entropyOf = (scores: readonly number[]): number => {
  const total = scores.reduce((sum, score) => sum + score, 0)
  return scores.reduce((sum, score) => (score === 0 ? sum : sum - (score / total) * Math.log(score / total)), 0)
}

const gainOf = (scores: readonly number[]): number => scores.reduce((sum, score, place) => sum + score / Math.log2(place + 2), 0)

/** The gain of an order as a share of the gain of the best order (normalised discounted cumulative gain). */
const ndcgOf = (scores: readonly number[]): number => {
  const best = gainOf(scores.toSorted((one, other) => other - one))
  return best === 0 ? 0 : gainOf(scores) / best
}

/** A number for each place, beginning with the first, as JSON: `{"0": 1, "1": 0.5}`. */
const byPlace = (places: number, of: (place: number) => number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: places }, (_, place) => [String(place), of(place)])))

/**
 * The metrics of a search from the scores of its chunks, with the columns of MindsDB. `scores` has a list for each question: the
 * scores of its chunks from 0 to 1, in the order of the search results.
 *
 * @example relevancyOf([[1, 0], [0, 1]], 10).mean_mrr // 0.75
 */
export const relevancyOf = (scores: readonly (readonly number[])[], places: number): JsonObject => {
  const firsts = scores.map((ofQuestion) => ofQuestion.findIndex((score) => score >= relevantFrom))
  const found = firsts.filter((place) => place >= 0)
  const relevantIn = (ofQuestion: readonly number[], count: number): number =>
    ofQuestion.slice(0, count).filter((score) => score >= relevantFrom).length
  return {
    avg_relevancy: mean(scores.map(mean)),
    avg_relevance_score_by_k: byPlace(places, (place) => mean(scores.map((ofQuestion) => ofQuestion[place] ?? 0))),
    avg_first_relevant_position: found.length === 0 ? null : mean(found),
    mean_mrr: mean(firsts.map((place) => (place < 0 ? 0 : 1 / (place + 1)))),
    hit_at_k: byPlace(places, (place) => found.filter((first) => first <= place).length / Math.max(1, scores.length)),
    bin_precision_at_k: byPlace(places, (place) => mean(scores.map((ofQuestion) => relevantIn(ofQuestion, place + 1) / (place + 1)))),
    avg_entropy: mean(scores.map(entropyOf)),
    avg_ndcg: mean(scores.map(ndcgOf)),
  }
}
