import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RecordedCall, readExamples } from '../../src/rpc/examples.js'
import { METHODS } from '../../src/rpc/methods.js'
import type { RecordedAnswer } from '../support/chains/recordings.js'
import { compareAnswers } from '../support/compare/compareAnswers.js'
import { messagePattern, runRecorded, startExampleServer } from '../support/exampleServers.js'
import type { Answer } from '../support/rpcClient.js'
import { validatorOf } from '../support/schemas.js'

/* The examples of docs/methods.md and rpc_discover against the program. `npm run record:rpc` records them. */

/** A call of the page, and what is to be true of its answer. */
interface Check {
  method: string
  call: RecordedCall
  check(answer: Answer, title: string): void
}

const checks: Check[] = Object.entries(readExamples()).flatMap(([method, { example, errors }]) => [
  ...(example
    ? [{ method, call: example, check: (answer: Answer, title: string) => checkExample(method, answer, title) }]
    : []),
  ...errors.map(({ code, message, ...call }) => ({
    method,
    call,
    check: ({ error }: Answer, title: string) => {
      assert.equal(error?.code, code, title)
      assert.match(error!.message, messagePattern(message), title)
    },
  })),
])

function checkExample(method: string, answer: Answer, title: string): void {
  const { varies, result } = readExamples()[method].example!
  assert.equal(answer.error, undefined, title)
  assert.deepEqual(validatorOf(METHODS.get(method)!.result.schema)(answer.result), [], `${title}: schema of the result`)
  if (!varies) assert.deepEqual(compareAnswers({ result }, answer as RecordedAnswer), [], title)
}

for (const on of new Set(checks.map(({ call }) => call.on))) {
  test(`the examples of ${on ?? 'the bundled fixture'} are answered as the page says`, async (t) => {
    const server = await startExampleServer(t, on)
    for (const { method, call, check } of checks.filter((each) => each.call.on === on)) {
      const { answer } = await runRecorded(server, method, call)
      check(answer, `${method} ${JSON.stringify(call.params)}: see \`npm run record:rpc\``)
    }
  })
}
