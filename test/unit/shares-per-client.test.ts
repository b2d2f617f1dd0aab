import { expect, test } from '@jest/globals'
import { SharesPerClient } from '../../src/basics/concurrency/shares-per-client.js'

const placesOf = (eventStreamsMax: number, eventStreamsPerClientMax: number): SharesPerClient =>
  new SharesPerClient({
    ...{ what: 'streams of events', max: 'eventStreamsMax', perClientMax: 'eventStreamsPerClientMax' },
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
