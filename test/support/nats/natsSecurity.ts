import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'

/* Certificates and credentials for nats-server, created for each test. */

type KeyPair = ReturnType<typeof nkeys.createUser>

/** False with a reason where openssl is missing: `skip` of a test. */
export const NEEDS_OPENSSL = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** A certificate authority in a folder, and a certificate of `localhost` that it has signed. */
export function makeAuthority(folder: string, name: string) {
  const at = (suffix: string) => join(folder, `${name}${suffix}`)
  const [caFile, caKey, certFile, keyFile] = [at('-ca.pem'), at('-ca.key'), at('.pem'), at('.key')]
  openssl(['req', '-x509', ...NEW_KEY, '-days', '1', '-subj', `/CN=${name}`, '-keyout', caKey, '-out', caFile])
  openssl(['req', ...NEW_KEY, '-subj', '/CN=localhost', '-keyout', keyFile, '-out', at('.csr')])
  writeFileSync(at('.ext'), 'subjectAltName=DNS:localhost\n')
  const signing = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-days', '1', '-extfile', at('.ext')]
  openssl(['x509', '-req', '-in', at('.csr'), ...signing, '-out', certFile])
  return { caFile, config: `tls { cert_file: "${certFile}", key_file: "${keyFile}", timeout: 2 }` }
}

/** A file with the seed of a user. */
export function writeSeed(folder: string, name: string, key: KeyPair = nkeys.createUser()) {
  const file = join(folder, `${name}.seed`)
  const seed = new TextDecoder().decode(key.getSeed())
  writeFileSync(file, `${seed}\n`)
  return { file, publicKey: key.getPublicKey(), secrets: [seed] }
}

/** A server of an operator whose account has JetStream, and `.creds` files of its users. */
export function makeOperator(folder: string) {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()]
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const [own, sys] = [account, system].map((key) => key.getPublicKey())
  const jwts = {
    operator: signJwt(operator, operator.getPublicKey(), { type: 'operator', system_account: sys }),
    own: signJwt(operator, own, { type: 'account', limits: { ...unlimited, ...storage } }),
    system: signJwt(operator, sys, { type: 'account', limits: unlimited }),
  }
  const config = `operator: "${jwts.operator}"\nresolver: MEMORY\nresolver_preload { ${own}: "${jwts.own}", ${sys}: "${jwts.system}" }`
  /** A user's file. With `signer`, one that the account does not know. */
  const writeCreds = (name: string, signer = account) => {
    const user = nkeys.createUser()
    const jwt = signJwt(signer, user.getPublicKey(), { type: 'user', subs: -1, data: -1, payload: -1 })
    const seed = new TextDecoder().decode(user.getSeed())
    const file = join(folder, `${name}.creds`)
    const block = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n`
    writeFileSync(file, `${block('NATS USER JWT', jwt)}\n${block('USER NKEY SEED', seed)}`)
    return { file, secrets: [seed, jwt] }
  }
  return { config, writeCreds }
}

/** A token as nats-server reads it: claims of JWT, signed with an NKEY. */
function signJwt(signer: KeyPair, subject: string, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const issued = Math.floor(Date.now() / 1000) - 60
  const body = { jti: subject, iat: issued, iss: signer.getPublicKey(), sub: subject, name: 'test' }
  const signed = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...body, nats: { ...claims, version: 2 } })}`
  return `${signed}.${Buffer.from(signer.sign(Buffer.from(signed))).toString('base64url')}`
}
