import { describe, expect, test } from '@jest/globals'
import { objectUrl, readS3 } from '../../../src/files/shared/s3-address.js'
import { limits } from '../../../src/basics/limits.js'
import { soleLeases } from '../../../src/log/contract/leases.js'
import { sharedStoreOf } from '../../../src/open-blobs.js'
import { readConfig } from '../../../src/setup/config.js'

const keys = { accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: undefined }

describe('BLOBS_URL', () => {
  test.each([
    ['s3://ledger/blobs?endpoint=http://minio:9000', 'http://minio:9000/ledger/blobs/id'],
    ['s3://ledger?endpoint=https://minio.corp/store/', 'https://minio.corp/store/ledger/id'],
    ['s3://ledger/a/b/?region=eu-central-1', 'https://ledger.s3.eu-central-1.amazonaws.com/a/b/id'],
    ['s3://ledger', 'https://ledger.s3.us-east-1.amazonaws.com/id'],
  ])('%s puts an object at %s', (text, url) => {
    expect(objectUrl(readS3('BLOBS_URL', text, keys), 'id')).toBe(url)
  })

  test.each([
    'ledger',
    'https://ledger/blobs',
    's3://',
    's3://Ledger_1/blobs',
    's3://key:secret@ledger/blobs',
    's3://ledger/a+b',
    's3://ledger/a//b',
    's3://ledger/%20',
    's3://ledger?endpoint=minio:9000',
    's3://ledger?endpoint=ftp://minio',
    's3://ledger?endpoint=http://key:secret@minio',
    's3://ledger?region=a b',
    's3://ledger?acl=public',
  ])('%j is refused with what it has to be', (text) => {
    expect(() => readS3('BLOBS_URL', text, keys)).toThrow(/^BLOBS_URL: must be s3:\/\/bucket/)
  })

  test('needs keys, and a log that nodes share', () => {
    const config = readConfig({ BLOBS_URL: 's3://ledger' })
    const log = { url: 'postgres://db/ledger', newest: async () => undefined, leases: soleLeases }
    expect(() => sharedStoreOf(config, log)).toThrow('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
    const withKeys = readConfig({ BLOBS_URL: 's3://ledger', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' })
    expect(() => sharedStoreOf(withKeys, undefined)).toThrow('LOG_URL')
    expect(sharedStoreOf(withKeys, log)).toMatchObject({ url: log.url, s3: { bucket: 'ledger', keys } })
    expect(sharedStoreOf(readConfig({}), log)).toMatchObject({ url: log.url, s3: undefined, cacheMaxBytes: limits.blobCacheMaxBytes })
    expect(sharedStoreOf(readConfig({ BLOB_CACHE_MAX: '500MiB' }), log)).toMatchObject({ cacheMaxBytes: 500 * 2 ** 20 })
    expect(sharedStoreOf(readConfig({}), undefined)).toBeUndefined()
  })
})
