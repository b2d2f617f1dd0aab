import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { hash, otherHash, shopCreated } from './samples.js'

const erasure = { what: 'request', subject: 'r-1', reason: 'Article 17', payloads: [], blobs: [] } as const

describe('EraseData', () => {
  test('says which payloads and blobs go, and what takes the place of a payload', () => {
    const data = { ...erasure, payloads: [{ hash, replacement: otherHash }], blobs: [otherHash] }
    given(shopCreated).when({ type: 'EraseData', data }).then({ type: 'DataErased', data })
  })

  test('an erasure that takes nothing leaves no event', () => {
    given(shopCreated)
      .when({ type: 'EraseData', data: { ...erasure, payloads: [], blobs: [] } })
      .then()
  })
})

test('EndKeyRotation says how many payloads went from which key to which', () => {
  const data = { from: 'old', to: 'new', payloads: 12 }
  given().when({ type: 'EndKeyRotation', data }).then({ type: 'MasterKeyRotated', data })
})
