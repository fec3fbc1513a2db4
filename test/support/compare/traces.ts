import assert from 'node:assert/strict'
import { ALL_FORKS } from '../../../src/chain/eth/forks/all.js'
import type { Receipt } from '../../../src/chain/eth/types.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { METHODS } from '../../../src/rpc/methods.js'
import type { StoredBlock } from '../../../src/store/rows/types.js'

/** The result of a method, run in this thread. @throws Error for an error answer. */
export async function callMethod<T>(context: RpcContext, method: string, params: unknown[]): Promise<T> {
  const outcome = await runMethod(METHODS.get(method)!, params, context)
  if ('error' in outcome) throw new Error(`${method}: ${outcome.error.code} ${outcome.error.message}`)
  return JSON.parse(Buffer.from(outcome.result).toString()) as T
}

interface Traced<T> {
  txHash: string
  result: T
}

interface StructTrace {
  gas: number
  failed: boolean
  returnValue: string
  structLogs: { error?: string }[]
}

/** A call of callTracer. */
export interface CallTrace {
  from: string
  to?: string
  gasUsed: string
  output?: string
  error?: string
  type: string
  calls?: CallTrace[]
  logs?: { address: string; topics: string[]; data: string; index: string }[]
}

interface AccountState {
  balance?: string
  nonce?: number
  code?: string
  storage?: Record<string, string>
}

interface Difference {
  pre: Record<string, AccountState>
  post: Record<string, AccountState>
}

/** Compares all traces of a block with its receipts, and what they change with the states before and after. Returns how
 *  many transactions it has. */
export async function checkTraces(context: RpcContext, blockNumber: number): Promise<number> {
  const { chain } = context
  const block = chain.blockByNumber(blockNumber)!
  const receipts = chain.receipts(block).map(({ receipt }) => receipt)
  const trace = <T>(config: object) =>
    callMethod<Traced<T>[]>(context, 'debug_traceBlockByNumber', [formatQuantity(blockNumber), config])
  const steps = await trace<StructTrace>({ disableStack: true, disableStorage: true })
  const calls = await trace<CallTrace>({ tracer: 'callTracer', tracerConfig: { withLog: true } })
  const hashes = chain.transactionHashes(block).map(formatData)
  for (const traces of [steps, calls])
    assert.deepEqual(
      traces.map(({ txHash }) => txHash),
      hashes,
    )
  let firstLog = 0
  for (const [i, receipt] of receipts.entries()) {
    checkSteps(steps[i].result, receipt)
    checkCalls(calls[i].result, steps[i].result, { receipt, firstLog })
    firstLog += receipt.logs.length
  }
  const differences = await trace<Difference>({ tracer: 'prestateTracer', tracerConfig: { diffMode: true } })
  checkDifferences(
    context,
    block,
    differences.map(({ result }) => result),
  )
  return receipts.length
}

function checkSteps({ gas, failed }: StructTrace, { gasUsed, status }: Receipt): void {
  assert.equal(BigInt(gas), gasUsed)
  if (status !== undefined) assert.equal(failed, status === 0)
}

function checkCalls(
  root: CallTrace,
  steps: StructTrace,
  { receipt, firstLog }: { receipt: Receipt; firstLog: number },
): void {
  assert.equal(BigInt(root.gasUsed), receipt.gasUsed)
  assert.equal(root.error !== undefined, steps.failed)
  assert.equal(root.output ?? '0x', steps.returnValue)
  if (receipt.contractAddress !== undefined && root.error === undefined) {
    assert.equal(root.to, formatData(receipt.contractAddress))
  }
  const logs = logsOf(root).sort((a, b) => Number(a.index) - Number(b.index))
  assert.deepEqual(
    logs.map(({ address, topics, data, index }) => ({ address, topics, data, index })),
    receipt.logs.map(({ address, topics, data }, i) => ({
      address: formatData(address),
      topics: topics.map(formatData),
      data: formatData(data),
      index: formatQuantity(firstLog + i),
    })),
  )
}

function logsOf({ logs = [], calls = [] }: CallTrace): NonNullable<CallTrace['logs']> {
  return [...logs, ...calls.flatMap(logsOf)]
}

/** Contracts that a block calls after its transactions. */
const SYSTEM = new Set(ALL_FORKS.requestContracts.map(formatData))

const ZERO_WORD = `0x${'00'.repeat(32)}`

/** Each difference begins where the one before it ended, and the last ends in the state after the block. Left out are
 *  accounts that the block itself changes: those of withdrawals, rewards and system calls. */
function checkDifferences({ chain, state }: RpcContext, block: StoredBlock, differences: Difference[]): void {
  const { number, miner } = block.header
  const own = new Set(
    [
      miner,
      ...chain.uncles(number).map((uncle) => uncle.miner),
      ...(block.withdrawals ?? []).map((each) => each.address),
    ].map(formatData),
  )
  const known = new Map<string, Required<AccountState>>()
  const read = (address: string): Required<AccountState> => {
    const bytes = parseHex(address)
    return {
      balance: formatQuantity(state.balance(bytes, number - 1)),
      nonce: Number(state.nonce(bytes, number - 1)),
      code: formatData(state.code(bytes, number - 1)),
      storage: {},
    }
  }
  const accountOf = (address: string) => {
    let account = known.get(address)
    if (account === undefined) {
      account = read(address)
      known.set(address, account)
    }
    return account
  }
  const slotOf = (address: string, account: Required<AccountState>, slot: string) => {
    account.storage[slot] ??= formatData(padded(state.storage(parseHex(address), parseHex(slot), number - 1)))
    return account.storage[slot]
  }
  for (const { pre, post } of differences) {
    for (const [address, before] of Object.entries(pre)) {
      const account = accountOf(address)
      assert.equal(before.balance ?? '0x0', account.balance, `balance of ${address} in block ${number}`)
      assert.equal(before.nonce ?? 0, account.nonce)
      assert.equal(before.code ?? '0x', account.code)
      for (const [slot, value] of Object.entries(before.storage ?? {}))
        assert.equal(value, slotOf(address, account, slot))
      if (post[address] !== undefined) continue
      known.set(address, { balance: '0x0', nonce: 0, code: '0x', storage: {} })
    }
    for (const [address, after] of Object.entries(post)) {
      const account = accountOf(address)
      for (const slot of Object.keys(pre[address]?.storage ?? {})) account.storage[slot] = ZERO_WORD
      Object.assign(account.storage, after.storage)
      const { balance = account.balance, nonce = account.nonce, code = account.code } = after
      known.set(address, { balance, nonce, code, storage: account.storage })
    }
  }
  for (const [address, { balance, nonce, code, storage }] of known) {
    if (SYSTEM.has(address)) continue
    const bytes = parseHex(address)
    if (!own.has(address)) assert.equal(balance, formatQuantity(state.balance(bytes, number)), `balance of ${address}`)
    assert.equal(nonce, Number(state.nonce(bytes, number)), `nonce of ${address} after block ${number}`)
    assert.equal(code, formatData(state.code(bytes, number)))
    for (const [slot, value] of Object.entries(storage)) {
      assert.equal(
        value,
        formatData(padded(state.storage(bytes, parseHex(slot), number))),
        `slot ${slot} of ${address}`,
      )
    }
  }
}

function padded(value: Uint8Array): Uint8Array {
  const out = new Uint8Array(32)
  out.set(value, 32 - value.length)
  return out
}
