import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../src/store/open.js'
import { serveFixture } from '../test/support/cairn.js'
import { type Answer, send } from '../test/support/rpcClient.js'
import { blockCases } from './rpcCases/blocks.js'
import { callCases } from './rpcCases/calls.js'
import { type CasesByMethod, type RpcCase, readFixtureHashes } from './rpcCases/case.js'
import { layer2Cases } from './rpcCases/layer2.js'
import { logCases } from './rpcCases/logs.js'
import { nodeCases } from './rpcCases/node.js'
import { stateCases } from './rpcCases/state.js'
import { subscriptionCases } from './rpcCases/subscriptions.js'
import { transactionCases } from './rpcCases/transactions.js'

/* `npm run record:rpc`: asks a server of the bundled fixture for every case and writes requests and answers to
 * fixtures/rpc/<method>/<case>.json. The cases are written by hand, the answers are the server's: read the difference
 * that this makes in the repository before it is committed. */

const hashes = readFixtureHashes()
const cases: CasesByMethod = {
  ...blockCases(hashes),
  ...transactionCases(hashes),
  ...logCases(hashes),
  ...callCases(hashes),
  ...stateCases(hashes),
  ...nodeCases(),
  ...subscriptionCases(),
  ...layer2Cases(),
}

const folder = packagePath('fixtures/rpc')
const endings: (() => void | Promise<void>)[] = []
let [count, bytes] = [0, 0]
try {
  const { url } = await serveFixture({ after: (end) => endings.push(end) })
  rmSync(folder, { recursive: true, force: true })
  for (const [method, byName] of Object.entries(cases)) {
    mkdirSync(join(folder, method), { recursive: true })
    for (const [name, each] of Object.entries(byName)) {
      const text = await record(url, method, each)
      writeFileSync(join(folder, method, `${name}.json`), text)
      count++
      bytes += text.length
    }
  }
} finally {
  for (const end of endings) await end()
}
console.log(`${count} cases of ${Object.keys(cases).length} methods, ${bytes} bytes`)

async function record(url: string, method: string, each: RpcCase): Promise<string> {
  const request = { jsonrpc: '2.0', id: 1, method, params: each.params }
  const response = selectMembers(await send(url, request), each)
  return `${JSON.stringify({ request, response }, null, 1)}\n`
}

function selectMembers(answer: Answer, { keep, drop = [] }: RpcCase): Answer {
  if (keep === undefined && drop.length === 0) return answer
  const members = Object.entries(answer.result as object).filter(
    ([name]) => !drop.includes(name) && (keep === undefined || keep.includes(name)),
  )
  return { ...answer, result: Object.fromEntries(members) }
}
