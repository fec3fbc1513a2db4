import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../../../src/lib/errors.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { parseServer } from '../../../src/replication/nats/access.js'
import { connectNats, describeServers } from '../../../src/replication/nats/connection.js'
import { NEEDS_NATS, openLink, settingsFor, startNats } from '../../support/nats/nats.js'
import { makeAuthority, NEEDS_OPENSSL, writeSeed } from '../../support/nats/natsSecurity.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

test('reads URLs, and names servers without credentials', () => {
  assert.deepEqual(parseServer('nats://10.0.0.1'), { host: '10.0.0.1:4222', isTls: false })
  assert.deepEqual(parseServer('tls://u%40:p@h:1'), { host: 'h:1', isTls: true, user: 'u@', pass: 'p' })
  assert.deepEqual(parseServer('nats://secret@h:1'), { host: 'h:1', isTls: false, token: 'secret' })
  for (const text of ['http://h', 'nats://', 'h:4222', '']) {
    assert.throws(
      () => parseServer(text),
      (error) => error instanceof UsageError && !error.message.includes('h:4222'),
    )
  }
  assert.equal(describeServers(settingsFor([{ url: 'nats://u:p@h:1' }, { url: 'nats://k:2' }])), 'h:1, k:2')
})

test(
  'waits for a server, says why, and continues when it is there; the signal ends the attempts',
  NEEDS_NATS,
  async (t) => {
    const server = await startNats(t)
    await server.kill()
    const stop = new AbortController()
    const problems: (string | null)[] = []
    const notified: (() => void)[] = []
    const open = (signal: AbortSignal) =>
      connectNats(settingsFor([server]), {
        log: silentLogger,
        signal,
        onProblem: (problem) => {
          problems.push(problem)
          notified.shift()?.()
        },
      })
    const failed = new Promise<void>((resolve) => notified.push(resolve))
    const connecting = open(stop.signal)
    await failed
    assert.match(problems[0]!, /^NATS at 127\.0\.0\.1:\d+: /)
    const aborted = new AbortController()
    const given = open(aborted.signal)
    aborted.abort(new Error('stopped by the test'))
    await assert.rejects(given, /stopped by the test/)
    await server.restart()
    const link = await connecting
    assert.equal(problems.at(-1), null)
    assert.equal(link.maxPayload, 2 ** 20)
    await link.close()
  },
)

test('refused credentials are said without naming them', NEEDS_NATS, async (t) => {
  const server = await startNats(t, { config: 'authorization { users: [{ user: writer, password: right }] }' })
  const stop = new AbortController()
  const problem = await new Promise<string | null>((resolve) => {
    const url = server.url.replace('nats://', 'nats://writer:hunter2@')
    connectNats(settingsFor([{ url }]), { log: silentLogger, signal: stop.signal, onProblem: resolve }).catch(() => {})
  })
  stop.abort()
  assert.match(problem!, /the credentials were refused/)
  assert.ok(!problem!.includes('hunter2'))
})

test('files of credentials and certificates that cannot be used are refused by name', async (t) => {
  const path = join(temporaryDirectory(t), 'seed')
  writeFileSync(path, 'nonsense')
  const open = (more: object) =>
    connectNats(settingsFor([{ url: 'nats://127.0.0.1:1' }], more), {
      log: silentLogger,
      signal: new AbortController().signal,
    })
  await assert.rejects(open({ credentialsFile: path }), /--nats-credentials \S+seed: expected an NKEY seed/)
  await assert.rejects(open({ credentialsFile: `${path}.none` }), /--nats-credentials .*ENOENT/)
  await assert.rejects(open({ caFile: `${path}.none` }), /--nats-ca .*ENOENT/)
  await assert.rejects(open({ caFile: path }), /--nats-ca \S+seed: expected certificates in PEM, got none/)
  const begin = '-----BEGIN CERTIFICATE-----'
  writeFileSync(path, `${begin}\nAAAA\n${begin.replace('BEGIN', 'END')}\n`)
  await assert.rejects(open({ caFile: path }), /--nats-ca \S+seed: /)
  const { file, secrets } = writeSeed(temporaryDirectory(t), 'user')
  // Not the last character: two of its five bits are not used.
  const damaged = secrets[0].replace(/(?<=^.{20})./, (found) => (found === 'A' ? 'B' : 'A'))
  writeFileSync(file, damaged)
  await assert.rejects(
    open({ credentialsFile: file }),
    (error: Error) => /--nats-credentials \S+user\.seed: /.test(error.message) && !error.message.includes(damaged),
  )
})

test('refused certificates and files of credentials are said with their option', {
  ...NEEDS_NATS,
  skip: NEEDS_NATS.skip || NEEDS_OPENSSL,
}, async (t) => {
  const folder = temporaryDirectory(t)
  const [authority, other] = [makeAuthority(folder, 'right'), makeAuthority(folder, 'other')]
  const [known, unknown] = [writeSeed(folder, 'known'), writeSeed(folder, 'unknown')]
  const users = `authorization { users: [{ nkey: ${known.publicKey} }] }`
  const server = await startNats(t, { config: `${authority.config}\n${users}`, isTls: true })
  const url = server.url.replace('nats://127.0.0.1', 'tls://localhost')
  const tried: [object, RegExp][] = [
    [{}, /an authority that is not known \(\w+\): --nats-ca FILE names it$/],
    [{ caFile: other.caFile }, /is not of an authority in --nats-ca \S+other-ca\.pem \(\w+\)$/],
    [{ caFile: authority.caFile }, /the server wants credentials: --nats-credentials FILE, or/],
    [
      { caFile: authority.caFile, credentialsFile: unknown.file },
      /the server refused the credentials of --nats-credentials \S+unknown\.seed$/,
    ],
  ]
  for (const [more, expected] of tried) {
    const stop = new AbortController()
    const problem = await new Promise<string | null>((resolve) => {
      const settings = settingsFor([{ url }], more)
      connectNats(settings, { log: silentLogger, signal: stop.signal, onProblem: resolve }).catch(() => {})
    })
    stop.abort(new Error('seen'))
    assert.match(problem!, expected)
  }
  await openLink(t, [{ url }], { caFile: authority.caFile, credentialsFile: known.file })
})

test('a server without TLS is not shown the credentials of tls://', async (t) => {
  let received = ''
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        received += bytes
      })
    socket.write('INFO {"server_id":"x","version":"2.9.10","max_payload":1048576,"headers":true,"proto":1}\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const url = `tls://writer:hunter2@127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = new AbortController()
  const problem = await new Promise<string | null>((resolve) => {
    connectNats(settingsFor([{ url }]), { log: silentLogger, signal: stop.signal, onProblem: resolve }).catch(() => {})
  })
  stop.abort(new Error('seen'))
  assert.match(problem!, /^NATS at 127\.0\.0\.1:\d+: the server has no TLS, which tls:\/\/ and --nats-ca demand$/)
  assert.ok(!received.includes('hunter2'))
})

test('an attempt that a frozen server does not answer leaves no connection', async (t) => {
  let open = 0
  const frozen = createServer((socket) => {
    open++
    socket.on('error', () => {}).on('close', () => open--)
  })
  t.after(() => void frozen.close())
  frozen.listen(0, '127.0.0.1')
  await once(frozen, 'listening')
  const stop = new AbortController()
  const { port } = frozen.address() as AddressInfo
  const problem = await new Promise<string | null>((onProblem) => {
    const { signal } = stop
    const settings = settingsFor([{ url: `nats://127.0.0.1:${port}` }])
    connectNats(settings, { log: silentLogger, signal, onProblem }).catch(() => {})
  })
  stop.abort(new Error('enough'))
  assert.equal(problem, `NATS at 127.0.0.1:${port}: timeout`)
  await until(() => open === 0)
})
