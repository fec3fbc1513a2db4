import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { encodeHeader } from '../../src/chain/eth/header.js'
import { formatData, formatQuantity, parseHex } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import type { RpcContext } from '../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import type { Method } from '../../src/rpc/core/method.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { runMethod } from '../../src/rpc/core/runCall.js'
import { executionWitness } from '../../src/rpc/debug/executionWitness.js'
import { traceBlockByNumber } from '../../src/rpc/debug/traceBlock.js'
import { getProof } from '../../src/rpc/eth/getProof.js'
import { importFiles, readGenesisFile } from '../../src/sync/import/importFiles.js'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { verifyHere } from '../support/chains/l2.js'
import { openCheckedChain } from '../support/compare/checkProofs.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { SKIP_GETH, serveWithGeth } from '../support/upstream/geth.js'

/* Witnesses of random chains through all forks: blocks execute from them alone, and geth's have the same nodes and
 * codes but for named differences. geth makes none before Byzantium. */

const SEED = Number(process.env.SEED ?? 1)
const CHAINS = Number(process.env.CHAINS ?? (THOROUGH ? 12 : 1))

for (let seed = SEED; seed < SEED + CHAINS; seed++) {
  test(`each block of the random chain of seed ${seed} is executed from its witness alone`, async (t) => {
    const { datadir } = await importRandomChain(t, seed)
    const chain = await openCheckedChain(t, datadir)
    for (let number = chain.head; number > 0; number--) await chain.executeFromWitness(number)
  })

  test(`geth has the witnesses of the random chain of seed ${seed}`, { skip: SKIP_GETH }, async (t) => {
    const { datadir, genesis, file } = await importRandomChain(t, seed)
    const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    t.after(close)
    const url = await serveWithGeth(t, { datadir: temporaryDirectory(t), genesis, chain: file })
    const counts = { equal: 0, blocks: 0 }
    for (let number = context.chain.head()!; number > 0; number--) {
      if (!context.chain.rulesOf(context.chain.blockByNumber(number)!).has('byzantium')) break
      counts.blocks++
      const theirs = await resultOf<GethWitness>(url, 'debug_executionWitness', [formatQuantity(number)])
      if (await compareWitness(context, number, theirs)) counts.equal++
    }
    t.diagnostic(`${counts.equal} of ${counts.blocks} witnesses have the nodes and codes of geth`)
    assert.ok(counts.equal > counts.blocks / 2)
  })
}

async function importRandomChain(t: TestContext, seed: number) {
  const datadir = temporaryDirectory(t)
  const chain = await buildRandomChain(seed)
  const [genesis, file] = ['genesis.json', 'chain.rlp'].map((name) => join(datadir, name))
  writeFileSync(genesis, chain.genesis)
  writeFileSync(file, chain.chainRlp)
  const importing = { stateMode: 'execute', l2Verify: verifyHere, log: silentLogger, showProgress: false } as const
  await importFiles({ datadir, paths: [file], chain: readGenesisFile(genesis), ...importing })
  return { datadir, genesis, file }
}

interface Witness {
  state: string[]
  codes: string[]
  keys?: string[]
  headers: string[]
}

type GethWitness = Omit<Witness, 'headers' | 'keys'> & { headers: { hash: string; number: string }[]; keys: null }

interface CallFrame {
  to?: string
  error?: string
  calls?: CallFrame[]
}

interface AccountProof {
  accountProof: string[]
  codeHash: string
}

/** Compares the witness of a block with geth's. Returns true if they have the same nodes and codes. */
async function compareWitness(context: RpcContext, number: number, theirs: GethWitness): Promise<boolean> {
  const ask = async <T>(method: Method, ...params: unknown[]): Promise<T> => {
    const outcome = await runMethod(method, params, context)
    if ('error' in outcome) throw new Error(outcome.error.message)
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
  const own = await ask<Witness>(executionWitness, formatQuantity(number), { keys: true })
  const { keys = [], ...without } = own
  assert.deepEqual(await ask<Witness>(executionWitness, formatQuantity(number)), without)
  const numbers = theirs.headers.map((header) => Number(header.number))
  const headers = numbers.map((each) => formatData(encodeHeader(context.chain.blockByNumber(each)!.header)))
  assert.deepEqual(own.headers, headers, `headers of block ${number}`)

  const parent = formatQuantity(number - 1)
  const addresses = keys.filter((key) => key.length === 42)
  const proofs = new Map<string, AccountProof>()
  for (const address of addresses) proofs.set(address, await ask(getProof, address, [], parent))
  const traces = await ask<{ result: CallFrame }[]>(traceBlockByNumber, formatQuantity(number), {
    tracer: 'callTracer',
  })
  const frames = traces.flatMap(({ result }) => framesOf(result))
  const isAmsterdam = context.chain.rulesOf(context.chain.blockByNumber(number)!).has('amsterdam')

  const difference = (a: readonly string[], b: readonly string[]) => a.filter((each) => !b.includes(each))
  const accountsWith = (code: string) =>
    addresses.filter((address) => proofs.get(address)!.codeHash === formatData(keccak256(parseHex(code))))
  // The specification fixes what is read from Amsterdam on. Before, geth does not read precompiles except for CALL, nor
  // the callees of calls that cannot begin or pay.
  const isUnread = (address: string) => {
    const calls = frames.filter(({ to }) => to === address)
    return !isAmsterdam && (isPrecompile(address) || calls.length === 0 || calls.some(({ error }) => isRefused(error)))
  }

  const ownNodes = difference(own.state, theirs.state)
  for (const node of ownNodes) {
    const readers = addresses.filter((address) => proofs.get(address)!.accountProof.includes(node))
    assert.ok(readers.length > 0 && readers.every(isUnread), `block ${number}: geth lacks the node ${node}`)
  }
  const theirNodes = difference(theirs.state, own.state)
  const isRoot = (node: string) =>
    formatData(keccak256(parseHex(node))) === formatData(context.chain.blockByNumber(number - 1)!.header.stateRoot)
  // geth has the root of a state that nothing reads.
  if (own.state.length === 0) assert.ok(theirNodes.length === 1 && isRoot(theirNodes[0]))
  else assert.deepEqual(theirNodes, [], `block ${number}: nodes that only geth has`)

  const ownCodes = difference(own.codes, theirs.codes)
  for (const code of ownCodes) {
    const readers = accountsWith(code)
    assert.ok(readers.length > 0 && readers.every(isUnread), `block ${number}: geth lacks the code ${code}`)
  }
  const theirCodes = difference(theirs.codes, own.codes)
  // geth has codes too that the block creates.
  for (const code of theirCodes)
    assert.deepEqual(accountsWith(code), [], `block ${number}: the code ${code} is missing`)
  return [ownNodes, theirNodes, ownCodes, theirCodes].every((list) => list.length === 0)
}

function framesOf(frame: CallFrame): CallFrame[] {
  return [frame, ...(frame.calls ?? []).flatMap(framesOf)]
}

/** True for the error of a call that cannot begin. */
function isRefused(error: string | undefined): boolean {
  return error !== undefined && /^(insufficient balance for transfer|max call depth exceeded)$/.test(error)
}

/** True for precompiles. */
function isPrecompile(address: string): boolean {
  const number = BigInt(address)
  return number <= 0x11n || number === 0x100n
}
