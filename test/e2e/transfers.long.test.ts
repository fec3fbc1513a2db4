import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A random chain through all forks: what traces, receipts, rewards and withdrawals of each block say that moved is the
 * difference of the balances of all accounts. */

const SEED = Number(process.env.SEED ?? 1)
const GWEI = 10n ** 9n

interface Trace {
  type: 'call' | 'create' | 'suicide' | 'reward'
  action: { [member: string]: string | undefined }
  result: { address?: string } | null
  error?: string
  traceAddress: number[]
  transactionHash?: string
}
interface Receipt {
  transactionHash: string
  from: string
  status?: string
  gasUsed: string
  effectiveGasPrice: string
  blobGasUsed?: string
  blobGasPrice?: string
}
interface Block {
  miner: string
  baseFeePerGas?: string
  parentBeaconBlockRoot?: string
  slotNumber?: string
  withdrawals?: { address: string; amount: string }[]
}

/** Balances that change as the events of a block say, in their order. */
class Balances {
  readonly wei: Map<string, bigint>

  constructor(before: ReadonlyMap<string, bigint>) {
    this.wei = new Map(before)
  }

  add(address: string, wei: bigint): void {
    this.wei.set(address, (this.wei.get(address) ?? 0n) + wei)
  }

  move(from: string, to: string, wei: bigint): void {
    this.add(from, -wei)
    this.add(to, wei)
  }
}

/** The traces that had an effect: none below or at one with an error. */
function effective(traces: readonly Trace[]): Trace[] {
  const failed = traces.filter(({ error }) => error !== undefined).map(({ traceAddress }) => traceAddress)
  const isBelow = (address: number[], above: number[]) => above.every((index, i) => address[i] === index)
  return traces.filter(({ traceAddress }) => !failed.some((above) => isBelow(traceAddress, above)))
}

/** Moves what a transaction moves, fees included, and burns what deleted contracts have at its end. */
function applyTransaction(balances: Balances, block: Block, receipt: Receipt, traces: readonly Trace[]): void {
  const created = new Set<string>()
  const deleted = new Set<string>()
  for (const { type, action, result } of effective(traces)) {
    if (type === 'create') {
      created.add(result!.address!)
      balances.move(action.from!, result!.address!, BigInt(action.value!))
    } else if (type === 'suicide') {
      const { address, refundAddress, balance } = action
      balances.move(address!, refundAddress!, BigInt(balance!))
      // EIP-6780
      if (block.parentBeaconBlockRoot === undefined || created.has(address!)) deleted.add(address!)
    } else if (action.callType === 'call') balances.move(action.from!, action.to!, BigInt(action.value!))
  }
  const { from, gasUsed, effectiveGasPrice, blobGasUsed = '0x0', blobGasPrice = '0x0' } = receipt
  const [gas, price] = [BigInt(gasUsed), BigInt(effectiveGasPrice)]
  balances.add(from, -gas * price - BigInt(blobGasUsed) * BigInt(blobGasPrice))
  balances.add(block.miner, gas * (price - BigInt(block.baseFeePerGas ?? 0)))
  // EIP-8246
  if (block.slotNumber !== undefined) return
  for (const address of deleted) balances.wei.set(address, 0n)
}

test('transfers, fees, rewards and withdrawals of each block explain the differences of all balances', async (t) => {
  const { genesis, chainRlp, head } = await buildRandomChain(SEED)
  const folder = join(temporaryDirectory(t), 'chain')
  mkdirSync(folder)
  writeFileSync(join(folder, 'genesis.json'), genesis)
  writeFileSync(join(folder, 'chain.rlp'), chainRlp)
  const { url } = await startCairn(t, ['--fixture', folder])

  const balancesAt = async (block: string): Promise<Map<string, bigint>> => {
    const all = new Map<string, bigint>()
    for (let start = '0x'; ; ) {
      const page = await resultOf<{ accounts: Record<string, { balance: string }>; next?: string }>(
        url,
        'debug_accountRange',
        [block, start, 256, true, true, false],
      )
      for (const [address, { balance }] of Object.entries(page.accounts))
        all.set(address.toLowerCase(), BigInt(balance))
      if (!page.next) return all
      start = `0x${Buffer.from(page.next, 'base64').toString('hex')}`
    }
  }

  let before = await balancesAt('0x0')
  let moved = 0
  for (let number = 1; number <= head; number++) {
    const at = formatQuantity(number)
    const block = await resultOf<Block>(url, 'eth_getBlockByNumber', [at, false])
    const receipts = await resultOf<Receipt[]>(url, 'eth_getBlockReceipts', [at])
    const traces = await resultOf<Trace[]>(url, 'trace_block', [at])
    const balances = new Balances(before)
    for (const receipt of receipts) {
      const own = traces.filter(({ transactionHash }) => transactionHash === receipt.transactionHash)
      applyTransaction(balances, block, receipt, own)
    }
    for (const { type, action } of traces) if (type === 'reward') balances.add(action.author!, BigInt(action.value!))
    for (const { address, amount } of block.withdrawals ?? []) balances.add(address, BigInt(amount) * GWEI)

    const after = await balancesAt(at)
    for (const address of new Set([...balances.wei.keys(), ...after.keys()])) {
      const [expected, actual] = [balances.wei.get(address) ?? 0n, after.get(address) ?? 0n]
      assert.equal(
        actual,
        expected,
        `block ${number}: ${address} has ${actual - expected} wei more than its transfers explain`,
      )
      if (actual !== (before.get(address) ?? 0n)) moved++
    }
    before = after
  }
  assert.ok(moved > 3 * head, `${moved} balances changed in ${head} blocks`)
})
