import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectNats, describeServers, parseServer } from '../../../../src/ingest/replication/nats/connection.js'
import { UsageError } from '../../../../src/lib/errors.js'
import { silentLogger } from '../../../../src/lib/logger.js'
import { NEEDS_NATS, settingsFor, startNats } from '../../../support/nats.js'
import { temporaryDirectory } from '../../../support/temporary.js'

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
  'waits for a server, says why, and goes on when it is there; the signal ends the attempts',
  NEEDS_NATS,
  async (t) => {
    const server = await startNats(t)
    await server.kill()
    const stop = new AbortController()
    const problems: (string | null)[] = []
    const told: (() => void)[] = []
    const open = (signal: AbortSignal) =>
      connectNats(settingsFor([server]), {
        log: silentLogger,
        signal,
        onProblem: (problem) => {
          problems.push(problem)
          told.shift()?.()
        },
      })
    const failed = new Promise<void>((resolve) => told.push(resolve))
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
})
