import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { spawnProgram, startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { findFoundry } from '../support/upstream/foundry.js'

/* Blocks of the official chain, executed by anvil on top of a fork of Cairn, and traced by both. */

const path = findFoundry('anvil')

// biome-ignore lint/suspicious/noExplicitAny: JSON of two programs
type Json = any

interface ChainBlock {
  number: string
  timestamp: string
  miner: string
  gasUsed: string
  gasLimit: string
  baseFeePerGas?: string
  transactions: { hash: string; type: string }[]
}

/** Names of anvil's rules by first block or, after the merge, first timestamp. */
const FORKS: readonly [at: number, name: string][] = [
  [0, 'frontier'],
  [3, 'tangerine'],
  [6, 'spuriousdragon'],
  [9, 'byzantium'],
  [12, 'constantinople'],
  [15, 'petersburg'],
  [18, 'istanbul'],
  [21, 'muirglacier'],
  [24, 'berlin'],
  [27, 'london'],
  [30, 'arrowglacier'],
  [33, 'grayglacier'],
  [36, 'paris'],
  [390, 'shanghai'],
  [420, 'cancun'],
  [450, 'prague'],
  [480, 'osaka'],
]

function forkOf({ number, timestamp }: ChainBlock): string {
  const at = Number(number) < 36 ? Number(number) : Math.max(36, Number(timestamp))
  return FORKS.filter(([first]) => first <= at).at(-1)![1]
}

/** Blocks that anvil 1.7.1 executes to other gas than their headers have: before Berlin it charges SSTORE by later
 *  prices, in Frontier creations and calls too. */
const OTHER_GAS = [1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23]

/** Faults of anvil 1.7.1, and what they leave to be compared. */
const FAULTS: readonly { of: string; why: string; mend(trace: Json, own: Json): void }[] = [
  {
    of: 'struct logs',
    why: 'the gas of the transaction has the intrinsic gas twice',
    mend: (trace) => void delete trace.gas,
  },
  {
    of: 'struct logs',
    why: 'a step has a refund of zero, which geth leaves out',
    mend: (trace) => {
      for (const step of trace.structLogs) if (step.refund === 0) delete step.refund
    },
  },
  {
    of: 'struct logs',
    why: 'storage lacks slots that were read before they were written; what is compared is the slot that SSTORE writes',
    mend: (trace) => {
      for (const step of trace.structLogs) {
        if (step.op === 'SLOAD') delete step.storage
        else if (step.op === 'SSTORE') step.storage = step.storage[wordOf(step.stack.at(-1))]
      }
    },
  },
  {
    of: 'struct logs',
    why: 'a step that fails has an error in the words of Rust, and no cost',
    mend: (trace) => {
      for (const step of trace.structLogs) {
        if (step.error === undefined) continue
        delete step.gasCost
        step.error = 'some error'
      }
    },
  },
  {
    of: 'callTracer',
    why: 'gas of the outermost call is without intrinsic gas, and its gasUsed has it twice',
    mend: (trace) => {
      delete trace.gas
      delete trace.gasUsed
    },
  },
  {
    of: 'callTracer',
    why: 'logs are counted in the transaction, geth counts them in the block',
    mend: (trace) => withoutIndex(trace),
  },
  {
    of: 'prestateTracer',
    why: 'accounts that do not exist are listed',
    mend: (trace, own) => {
      for (const [address, account] of Object.entries<Json>(trace)) {
        const isEmpty = BigInt(account.balance) === 0n && account.nonce === undefined && account.code === undefined
        const slots = Object.values<string>(account.storage ?? {})
        if (own[address] === undefined && isEmpty && slots.every((value) => BigInt(value) === 0n)) delete trace[address]
      }
    },
  },
  {
    of: 'prestateTracer',
    why: 'it does not know the code hash, which came with geth 1.17',
    mend: (trace) => withoutCodeHash(trace),
  },
  {
    of: 'prestateTracer of differences',
    why: 'it does not know the code hash, which came with geth 1.17',
    mend: ({ pre, post }) => {
      withoutCodeHash(pre)
      withoutCodeHash(post)
    },
  },
  {
    of: 'flatCallTracer',
    why: 'it answers with {}; its trace_transaction has the same entries, but the outermost without intrinsic gas and null for no result',
    mend: (trace) => {
      delete trace[0].action.gas
      delete trace[0].result?.gasUsed
      for (const entry of trace) if (entry.result === null) delete entry.result
    },
  },
]

function wordOf(quantity: string): string {
  return `0x${quantity.slice(2).padStart(64, '0')}`
}

function withoutIndex({ logs, calls }: Json): void {
  for (const log of logs ?? []) delete log.index
  for (const call of calls ?? []) withoutIndex(call)
}

function withoutCodeHash(accounts: Json): void {
  for (const account of Object.values<Json>(accounts)) delete account.codeHash
}

/** Requests for one transaction. */
const TRACES: { readonly [name: string]: (hash: string) => [method: string, params: unknown[]] } = {
  'struct logs': (hash) => ['debug_traceTransaction', [hash, {}]],
  callTracer: (hash) => ['debug_traceTransaction', [hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }]],
  prestateTracer: (hash) => ['debug_traceTransaction', [hash, { tracer: 'prestateTracer' }]],
  'prestateTracer of differences': (hash) => [
    'debug_traceTransaction',
    [hash, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }],
  ],
  flatCallTracer: (hash) => [
    'debug_traceTransaction',
    [hash, { tracer: 'flatCallTracer', tracerConfig: { convertParityErrors: true } }],
  ],
  trace_transaction: (hash) => ['trace_transaction', [hash]],
  '4byteTracer': (hash) => ['debug_traceTransaction', [hash, { tracer: '4byteTracer' }]],
}

test('traces of the official chain are those of anvil, but for its named faults', {
  skip: SKIP_SHARED || (path === undefined && 'anvil cannot be installed'),
}, async (t) => {
  const { url } = await startCairn(t, ['--fixture', sharedPath('conformance', 'execution-apis')!])
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  let anvil: { fork: string; url: string; stop(): Promise<void> } | undefined
  const otherGas: number[] = []
  let compared = 0
  for (let number = 1; number <= head; number++) {
    const block = await resultOf<ChainBlock>(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
    // Anvil takes blobs only with their sidecars, which no chain holds.
    if (block.transactions.length === 0 || block.transactions.some(({ type }) => type === '0x3')) continue
    const fork = forkOf(block)
    if (anvil?.fork !== fork) {
      await anvil?.stop()
      anvil = { fork, ...(await startFork(t, url, fork)) }
    }
    if (!(await mineSame(url, anvil.url, block))) {
      otherGas.push(number)
      continue
    }
    for (const { hash } of block.transactions) await compareTraces(url, anvil.url, hash)
    compared += block.transactions.length
  }
  t.diagnostic(`${compared} transactions`)
  assert.deepEqual(otherGas, OTHER_GAS)
  assert.ok(compared > 80, `${compared} transactions`)
})

async function startFork(t: TestContext, url: string, fork: string) {
  const fixed = ['--port', '0', '--no-mining', '--order', 'fifo', '--no-storage-caching', '--steps-tracing']
  const { child, ended, waitFor } = spawnProgram(path!, [
    ...fixed,
    '--fork-url',
    url,
    '--fork-block-number',
    '0',
    '--hardfork',
    fork,
  ])
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.after(stop)
  const [, address] = await waitFor('stdout', /Listening on (\S+)/)
  return { url: `http://${address}`, stop }
}

/** Has anvil mine the transactions of the block on its parent. Returns whether they took the same gas. */
async function mineSame(url: string, anvil: string, block: ChainBlock): Promise<boolean> {
  const order = (method: string, ...params: unknown[]) => resultOf<unknown>(anvil, method, params)
  await order('anvil_reset', { forking: { jsonRpcUrl: url, blockNumber: Number(block.number) - 1 } })
  await order('anvil_setCoinbase', block.miner)
  if (block.baseFeePerGas !== undefined) await order('anvil_setNextBlockBaseFeePerGas', block.baseFeePerGas)
  await order('evm_setBlockGasLimit', block.gasLimit)
  await order('evm_setNextBlockTimestamp', Number(block.timestamp))
  for (const { hash } of block.transactions) {
    const raw = await resultOf<string>(url, 'debug_getRawTransaction', [hash])
    assert.equal(await order('eth_sendRawTransaction', raw), hash)
  }
  await order('evm_mine')
  const mined = (await order('eth_getBlockByNumber', block.number, false)) as Json
  assert.deepEqual(
    mined.transactions,
    block.transactions.map(({ hash }) => hash),
  )
  return mined.gasUsed === block.gasUsed
}

async function compareTraces(url: string, anvil: string, hash: string): Promise<void> {
  for (const [name, requestOf] of Object.entries(TRACES)) {
    const [method, params] = requestOf(hash)
    const own = (await resultOf<Json>(url, method, params)) as Json
    const theirs =
      name === 'flatCallTracer'
        ? await resultOf<Json>(anvil, 'trace_transaction', [hash])
        : await resultOf<Json>(anvil, method, params)
    // It is another block: rewards and roots are anvil's.
    if (Array.isArray(own)) for (const entry of [...own, ...theirs]) delete entry.blockHash
    for (const { mend } of FAULTS.filter((fault) => fault.of === name)) {
      mend(theirs, own)
      mend(own, own)
    }
    assert.deepEqual(own, theirs, `${name} of ${hash}`)
  }
}
