import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { hash, otherHash, sales, salesCreated, secret, shopCreated } from './samples.js'

const erasure = { what: 'request', subject: 'r-1', reason: 'Article 17', payloads: [], blobs: [] } as const

describe('EraseData', () => {
  test('says which payloads and blobs go, and what takes the place of a payload', () => {
    const data = { ...erasure, payloads: [{ hash, replacement: otherHash }], blobs: [otherHash] }
    given(shopCreated).when({ type: 'EraseData', data }).then({ type: 'DataErased', data })
  })

  test('an erasure of kept answers alone names nothing', () => {
    const data = { ...erasure, payloads: [], blobs: [] }
    given(shopCreated).when({ type: 'EraseData', data }).then({ type: 'DataErased', data })
  })

  test('is refused if a resource has a former secret again, and the event does not name the resource', () => {
    const data = { ...erasure, payloads: [{ hash, replacement: null }], blobs: [] }
    const formerHolders = [{ kind: 'skill' as const, stream: sales }]
    const command = { type: 'EraseData' as const, data: { ...data, formerHolders } }
    given(shopCreated, salesCreated({ key: secret }))
      .when(command)
      .refuses('busy', 'got one of these secrets again')
    given(shopCreated, salesCreated({ key: { $secret: otherHash } }))
      .when(command)
      .then({ type: 'DataErased', data })
    given(shopCreated).when(command).then({ type: 'DataErased', data })
  })
})

test('EndKeyRotation says how many payloads went from which key to which', () => {
  const data = { from: 'old', to: 'new', payloads: 12 }
  given().when({ type: 'EndKeyRotation', data }).then({ type: 'MasterKeyRotated', data })
})
