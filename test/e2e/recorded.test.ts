import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ALL_METHODS, METHODS } from '../../src/rpc/methods.js'
import { packagePath } from '../../src/store/open.js'
import { serveFixture, spawnNode } from '../support/cairn.js'
import type { RecordedAnswer } from '../support/chains/recordings.js'
import { compareAnswers } from '../support/compare/compareAnswers.js'
import { messagePattern } from '../support/exampleServers.js'
import { type Answer, openSocket, resultOf, send } from '../support/rpcClient.js'
import { validatorOf } from '../support/schemas.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'

/* The recorded cases of every method, fixtures/rpc, against the program. `npm run record:rpc` makes them. */

const folder = packagePath('fixtures/rpc')
const server = await serveFixture({ after })

interface RecordedCase {
  name: string
  request: { method: string }
  response: Answer
}

function readCases(method: string): RecordedCase[] {
  const files = readdirSync(join(folder, method)).sort()
  return files.map((file) => {
    const name = `${method}/${file}`
    return { name, ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Omit<RecordedCase, 'name'>) }
  })
}

const methods = readdirSync(folder).sort()

test('every method has recorded cases, and nothing else has', () => {
  assert.deepEqual(methods, ALL_METHODS.map(({ name }) => name).sort())
  for (const method of methods) {
    const cases = readCases(method)
    assert.ok(cases.length > 0, method)
    for (const { name, request } of cases) assert.equal(request.method, method, name)
  }
})

/** Errors of any method: of its parameters. */
const GENERAL =
  /^(missing value for required argument \d|too many arguments, want at most \d|invalid argument \d: |unknown parameter )/

for (const method of methods) {
  test(`${method} answers as recorded, by the schema of its result and with documented errors`, async () => {
    const { result, errors } = METHODS.get(method)!
    const validate = validatorOf(result.schema)
    for (const { name, request, response } of readCases(method)) {
      const answer = await send(server.url, request)
      assert.deepEqual(compare(response, answer), [], name)
      if (answer.error === undefined) {
        assert.deepEqual(validate(answer.result), [], `${name}: the schema of the result in src/rpc is wrong`)
        continue
      }
      const { code, message } = answer.error
      const documented = errors.some((each) => each.code === code && messagePattern(each.message).test(message))
      assert.ok(documented || GENERAL.test(message), `${name}: ${code} ${message} is not in the method's errors`)
    }
  })
}

test('every case is answered over a WebSocket too', async (t) => {
  const socket = await openSocket(server.socketUrl)
  t.after(() => socket.close())
  for (const { name, request, response } of methods.flatMap(readCases)) {
    assert.deepEqual(compare(response, await socket.send(request)), [], name)
  }
})

test('all cases in two batches are answered in their order', async () => {
  const cases = methods.flatMap(readCases)
  const requests = cases.map(({ request }, id) => ({ ...request, id }))
  const half = Math.ceil(requests.length / 2)
  const batches = [requests.slice(0, half), requests.slice(half)]
  const answers: Answer[] = []
  for (const batch of batches) answers.push(...((await send(server.url, batch)) as unknown as Answer[]))
  assert.deepEqual(
    answers.map(({ id }) => id),
    cases.map((_, id) => id),
  )
  for (const [i, { name, response }] of cases.entries()) assert.deepEqual(compare(response, answers[i]), [], name)
})

const runner = sharedPath('conformance', 'run-io.mjs')

test('the runner of the shared folder reads the cases and passes them', { skip: SKIP_SHARED }, async () => {
  const { code, stdout } = await spawnNode([runner!, '--url', server.url, '--messages', '--quiet', folder]).ended
  assert.match(stdout, /\b0 failed\n$/)
  assert.equal(code, 0)
})

test('the version and the list of methods are this build’s', async () => {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }
  const clientVersion = await resultOf<string>(server.url, 'web3_clientVersion')
  assert.match(clientVersion, /^cairn\/\S+$/i)
  assert.ok(clientVersion.includes(version), clientVersion)
  const discovered = await resultOf<{ methods: { name: string }[] }>(server.url, 'rpc_discover')
  assert.deepEqual(discovered.methods.map(({ name }) => name).sort(), methods)
})

function compare(recorded: Answer, answer: Answer): string[] {
  return compareAnswers(recorded as RecordedAnswer, answer as RecordedAnswer, { messages: true })
}
