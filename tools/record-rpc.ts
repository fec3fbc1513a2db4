import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXAMPLES_FILE, type MethodExamples, readExamples } from '../src/rpc/examples.js'
import { ALL_METHODS, METHODS } from '../src/rpc/methods.js'
import { formatMethodsPages } from '../src/rpc/methodsPage.js'
import { packagePath } from '../src/store/open.js'
import type { CairnServer } from '../test/support/cairn.js'
import { runRecorded, startExampleServer } from '../test/support/exampleServers.js'
import type { Answer } from '../test/support/rpcClient.js'
import { keepVarying, type RunCase, selectExamples } from './examples.js'
import { blockCases } from './rpcCases/blocks.js'
import { callCases } from './rpcCases/calls.js'
import { isPlain, joinCases, type RpcCase, readFixtureHashes } from './rpcCases/case.js'
import { layer2Cases } from './rpcCases/layer2.js'
import { logCases } from './rpcCases/logs.js'
import { nodeCases } from './rpcCases/node.js'
import { otsCases } from './rpcCases/ots.js'
import { serverCases } from './rpcCases/servers.js'
import { stateCases } from './rpcCases/state.js'
import { stateRangeCases } from './rpcCases/stateRanges.js'
import { subscriptionCases } from './rpcCases/subscriptions.js'
import { contractCases, tokenCases } from './rpcCases/tokens.js'
import { traceCases } from './rpcCases/traces.js'
import { transactionCases } from './rpcCases/transactions.js'

/* `npm run record:rpc`: asks servers of the bundled fixture for every case and writes
 *  - requests and answers to fixtures/rpc/<method>/<case>.json, of the cases that any such server answers alike,
 *  - an example of each method, and of each documented error, to fixtures/rpc-examples.json,
 *  - docs/methods.md and docs/methods/, which show the examples.
 * The cases are written by hand, the answers are the server's: read the difference that this makes in the repository
 * before it is committed. */

const hashes = readFixtureHashes()
const cases = joinCases([
  blockCases(hashes),
  transactionCases(hashes),
  logCases(hashes),
  callCases(hashes),
  stateCases(hashes),
  nodeCases(),
  subscriptionCases(),
  layer2Cases(),
  traceCases(hashes),
  stateRangeCases(hashes),
  otsCases(hashes),
  tokenCases(),
  contractCases(),
  serverCases(hashes),
])
const unknown = Object.keys(cases).filter((method) => !METHODS.has(method))
if (unknown.length > 0) throw new Error(`cases of unknown methods: ${unknown.join(', ')}`)

const folder = packagePath('fixtures/rpc')
const endings: (() => void | Promise<void>)[] = []
const t = { after: (end: () => void | Promise<void>) => void endings.unshift(end) }
const servers = new Map<string | undefined, Promise<CairnServer>>()
const examples: { [method: string]: MethodExamples } = {}
let [count, bytes] = [0, 0]
try {
  rmSync(folder, { recursive: true, force: true })
  for (const method of ALL_METHODS) {
    mkdirSync(join(folder, method.name), { recursive: true })
    const runs: RunCase[] = []
    for (const [name, each] of Object.entries(cases[method.name] ?? {}))
      runs.push(await runCase(method.name, name, each))
    for (const { name, each, call, answer } of runs.filter((run) => isPlain(run.each))) {
      const request = { jsonrpc: '2.0', id: 1, method: method.name, params: call.params }
      const text = `${JSON.stringify({ request, response: selectMembers(answer, each) }, null, 1)}\n`
      writeFileSync(join(folder, method.name, `${name}.json`), text)
      count++
      bytes += text.length
    }
    examples[method.name] = keepVarying(readExamples()[method.name], selectExamples(method, runs))
  }
} finally {
  for (const end of endings) await end()
}
writeFileSync(EXAMPLES_FILE, `${JSON.stringify(examples, null, 1)}\n`)
for (const [path, text] of formatMethodsPages(examples)) writeFileSync(packagePath(path), text)
console.log(`${count} cases of ${Object.keys(cases).length} methods, ${bytes} bytes`)

async function runCase(method: string, name: string, each: RpcCase): Promise<RunCase> {
  const { params, transport, on } = each
  const calls = each.before?.map(([before, values]) => ({ method: before, params: values, result: undefined }))
  const started = servers.get(on) ?? startExampleServer(t, on)
  servers.set(on, started)
  const { answer, results } = await runRecorded(await started, method, { params, transport, before: calls })
  const before = calls?.map((call, i) => ({ ...call, result: results[i] }))
  return { name, each, call: { params, before, transport, on }, answer }
}

function selectMembers(answer: Answer, { keep, drop = [] }: RpcCase): Answer {
  if (keep === undefined && drop.length === 0) return answer
  const members = Object.entries(answer.result as object).filter(
    ([name]) => !drop.includes(name) && (keep === undefined || keep.includes(name)),
  )
  return { ...answer, result: Object.fromEntries(members) }
}
