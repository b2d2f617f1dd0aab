import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverUser } from './postgres.js'

/** A self-signed certificate and its key, as texts, and as files that the databases of tests can read. */
export type Certificate = { key: string; cert: string; pem: string }

/** Makes a certificate for hosts such as `DNS:localhost`, in a folder that every user may enter. */
export const makeCertificate = (folder: string, ...hosts: readonly string[]): Certificate => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${hosts.join(',')}`]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  chmodSync(folder, 0o755)
  // A server that root started runs as another user, who must be able to read the key.
  if (serverUser !== undefined) chownSync(key, 0, serverUser)
  chmodSync(key, serverUser === undefined ? 0o600 : 0o640)
  return { key, cert, pem: readFileSync(cert, 'utf8') }
}
