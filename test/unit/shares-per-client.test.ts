import { expect, test } from '@jest/globals'
import { SharesPerClient } from '../../src/basics/concurrency/shares-per-client.js'

const placesOf = (eventStreamsMax: number, eventStreamsPerClientMax: number): SharesPerClient =>
  new SharesPerClient({
    ...{ what: 'streams of events', max: 'eventStreamsMax', shares: [{ max: 'eventStreamsPerClientMax' }] },
    bounds: { eventStreamsMax, eventStreamsPerClientMax },
  })

test('a client has its share, and what it gives back it may take again', () => {
  const places = placesOf(10, 2)
  const release = places.take('a')
  places.take('a')
  expect(() => places.take('a')).toThrow('2 streams of events of this client are under way (eventStreamsPerClientMax)')
  places.take('b')
  release()
  places.take('a')
  expect(() => places.take('a')).toThrow('eventStreamsPerClientMax')
})

test('all clients together have so many', () => {
  const places = placesOf(2, 2)
  const release = places.take('a')
  places.take('b')
  expect(() => places.take('c')).toThrow('2 streams of events are under way (eventStreamsMax)')
  release()
  places.take('c')
})

test('a place of several owners counts for all of them, or for none', () => {
  const places = new SharesPerClient({
    ...{ what: 'answers', max: 'agentAnswersMax' },
    shares: [
      { max: 'agentAnswersPerProjectMax', whose: ' of this project' },
      { max: 'agentAnswersPerAgentMax', whose: ' of this agent' },
    ],
    bounds: { agentAnswersMax: 4, agentAnswersPerProjectMax: 3, agentAnswersPerAgentMax: 2 },
  })
  const releases = [places.take('shop', 'a'), places.take('shop', 'a')]
  for (let i = 0; i < 9; i++) expect(() => places.take('shop', 'a')).toThrow('2 answers of this agent are under way')
  releases.push(places.take('shop', 'b'))
  for (let i = 0; i < 9; i++) expect(() => places.take('shop', 'b')).toThrow('3 answers of this project are under way')
  releases.push(places.take('office', 'b'))
  for (let i = 0; i < 9; i++) expect(() => places.take('office', 'c')).toThrow('4 answers are under way')
  for (const release of releases) release()
  expect([places.take('shop', 'a'), places.take('shop', 'a'), places.take('shop', 'b'), places.take('office', 'b')]).toHaveLength(4)
})
