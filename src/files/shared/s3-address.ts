import { ConfigError, type Config, type S3Keys } from '../../setup/config.js'

/** Where an S3-compatible server keeps blobs, and the keys that open it. */
export type S3Address = {
  bucket: string
  /** Ends in "/", or is empty. */
  prefix: string
  /** The server; that of AWS in the region when it is not given. */
  endpoint: URL | undefined
  region: string
  keys: S3Keys
}

const rule = 'must be s3://bucket/prefix?endpoint=https://host:port&region=name; without an endpoint it is AWS'

const bucketShape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const prefixShape = /^(?:[A-Za-z0-9._-]+\/)*[A-Za-z0-9._-]+$/
const regionShape = /^[a-z0-9-]{1,50}$/

const endpointOf = (text: string | null, refused: (why?: string) => ConfigError): URL | undefined => {
  if (text === null) return undefined
  if (!URL.canParse(text)) throw refused('The endpoint is not an address')
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw refused('The endpoint is an address of http or https without a user and parameters')
  return url
}

/**
 * Reads the address of a bucket, which a setting or an option of a command names.
 *
 * @example readS3('BLOBS_URL', 's3://ledger/blobs?endpoint=http://minio:9000', keys).bucket // 'ledger'
 * @throws ConfigError that names it
 */
export const readS3 = (name: string, text: string, keys: S3Keys | undefined): S3Address => {
  const refused = (why?: string) => new ConfigError(`${name}: ${rule}${why === undefined ? '' : `. ${why}`}`)
  if (!text.startsWith('s3://') || !URL.canParse(text)) throw refused()
  const { host: bucket, pathname, searchParams, username, password } = new URL(text)
  const prefix = pathname.replace(/^\/|\/$/g, '')
  const region = searchParams.get('region') ?? 'us-east-1'
  const others = [...searchParams.keys()].filter((name) => name !== 'endpoint' && name !== 'region')
  if (username !== '' || password !== '') throw refused('The keys belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (!bucketShape.test(bucket) || (prefix !== '' && !prefixShape.test(prefix)) || !regionShape.test(region) || others.length > 0)
    throw refused()
  if (!keys) throw new ConfigError(`${name}: needs the keys of the store in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpointOf(searchParams.get('endpoint'), refused),
    region,
    keys,
  }
}

/** The bucket that the settings name; undefined when they name none. @throws ConfigError that names the variable */
export const bucketOf = ({ blobsUrl, blobKeys }: Pick<Config, 'blobsUrl' | 'blobKeys'>): S3Address | undefined =>
  blobsUrl === undefined ? undefined : readS3('BLOBS_URL', blobsUrl, blobKeys)

/** The address of an object: `https://host/bucket/key`, and at AWS `https://bucket.s3.region.amazonaws.com/key`. */
export const objectUrl = (address: S3Address, id: string): string => `${bucketUrl(address)}${address.prefix}${id}`

/** The address of a bucket, with a slash at its end. */
export const bucketUrl = ({ bucket, endpoint, region }: S3Address): string =>
  endpoint ? `${endpoint.href.replace(/\/$/, '')}/${bucket}/` : `https://${bucket}.s3.${region}.amazonaws.com/`
