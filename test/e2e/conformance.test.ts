import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, test } from 'node:test'
import { serveFixture, spawnNode, startCairn } from '../support/cairn.js'
import { type RecordedAnswer, readRecordings } from '../support/chains/recordings.js'
import { compareAnswers } from '../support/compare/compareAnswers.js'
import { ask, openSocket } from '../support/rpcClient.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'

/* The official Ethereum JSON-RPC suite against the program as users start it. */

const suite = sharedPath('conformance', 'execution-apis')
const skip = SKIP_SHARED

/** Methods of the suite that Cairn does not have. */
const NOT_SERVED = /^(eth_capabilities|eth_sendRawTransaction|testing_\w+)$/

/** Cases of the methods that are served, so that an empty run does not pass. */
const SERVED_CASES = 222

const server = suite === undefined ? undefined : await startCairn({ after }, ['--fixture', suite])

test('the runner of the shared folder passes every case over HTTP', { skip }, async () => {
  const skipped = NOT_SERVED.source.replace('$', '/')
  const args = [sharedPath('conformance', 'run-io.mjs')!, '--url', server!.url, '--skip', skipped, '--quiet', suite!]
  const { code, stdout } = await spawnNode(args).ended
  const [, passed, failed] = /(\d+) passed, (\d+) failed\n$/.exec(stdout)!
  assert.equal(Number(failed), 0, stdout)
  assert.equal(code, 0)
  assert.ok(Number(passed) >= SERVED_CASES, `${passed} cases`)
})

test('the same cases pass over one WebSocket', { skip }, async (t) => {
  const socket = await openSocket(server!.socketUrl)
  t.after(() => socket.close())
  const methods = readdirSync(suite!, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  let cases = 0
  for (const method of methods.map(({ name }) => name).filter((name) => !NOT_SERVED.test(name))) {
    for (const { name, kindOnly, exchanges } of readRecordings(suite!, method)) {
      for (const { request, expected } of exchanges) {
        const answer = await socket.send(request)
        assert.deepEqual(compareAnswers(expected, answer as RecordedAnswer, { kindOnly }), [], name)
        assert.equal(answer.id, (request as { id?: unknown }).id, name)
      }
      cases++
    }
  }
  assert.ok(cases >= SERVED_CASES, `${cases} cases`)
})

test('methods that are not served say so, and nothing else is written than that the server is ready', async (t) => {
  const own = await serveFixture(t)
  const { error } = await ask(own.url, 'testing_buildBlockV1')
  assert.deepEqual(error, { code: -32601, message: 'the method testing_buildBlockV1 does not exist/is not available' })
  const { stdout, stderr } = await own.stop()
  assert.equal(stdout, `ready ${own.url}\n`)
  assert.equal(stderr, '')
})
