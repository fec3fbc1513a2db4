import { hexToBigInt, keccak256 } from 'viem'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import type { Database } from '../../../src/store/database.js'
import { openForQueries } from '../../../src/store/sql/queryDatabase.js'
import { importFixture } from '../chains/fixtureDatabase.js'
import { importViewChain, writeViewChain } from '../chains/viewChain.js'
import { temporaryDirectory } from '../temporary.js'
import { callMethod } from './traces.js'

/* What the methods answer about all blocks, accounts and slots of a database. */

/** Hex text. */
export type Hex = `0x${string}`
/** An authorization of a transaction. */
export interface Signed {
  chainId: Hex
  address: Hex
  nonce: Hex
  yParity: Hex
  r: Hex
  s: Hex
}
/** A block with its transactions. */
export interface Block {
  number: Hex
  hash: Hex
  timestamp: Hex
  baseFeePerGas?: Hex
  withdrawals?: { index: Hex; validatorIndex: Hex; address: Hex; amount: Hex }[]
  transactions: {
    hash: Hex
    from: Hex
    to: Hex | null
    input: Hex
    blobVersionedHashes?: Hex[]
    accessList?: { address: Hex; storageKeys: Hex[] }[]
    authorizationList?: Signed[]
  }[]
}
/** An account after a block. */
export interface Account {
  balance: string
  nonce: number
  /** Hex text. */
  code: string
  codeHash: string | null
}

/** A receipt with its logs. */
export interface Receipt {
  blockNumber: Hex
  transactionHash: Hex
  transactionIndex: Hex
  /** Not before Byzantium. */
  status?: Hex
  from: Hex
  to: Hex | null
  gasUsed: Hex
  logs: Log[]
}

/** A log. */
export interface Log {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  transactionIndex: Hex
  transactionHash: Hex
  logIndex: Hex
}

/** A database, and what the methods answered about all blocks, accounts and slots. */
export interface Answers {
  readonly db: Database
  readonly datadir: string
  /** Calls a method. */
  call<T>(method: string, params: unknown[]): Promise<T>
  readonly blocks: Block[]
  readonly receipts: Receipt[][]
  readonly addresses: string[]
  /** By address and block. */
  readonly accounts: Map<string, Account[]>
  /** Values by address and slot, and by block. */
  readonly slots: Map<string, string[]>
}

type After = { after(callback: () => void | Promise<void>): void }

/** Makes a database of the fixture chain, named `fixture`, and one of a random chain (viewChain.ts) for each of the
 *  seeds, and asks the methods for all of that; without `slots`, not for slots. */
export async function askChains(
  ending: After,
  seeds: { readonly [chain: string]: number },
  { slots = true }: { readonly slots?: boolean } = {},
): Promise<{ fixture: Answers; [chain: string]: Answers }> {
  const fixture = temporaryDirectory(ending)
  await importFixture(fixture)
  const answers: { fixture: Answers; [chain: string]: Answers } = { fixture: await askAll(ending, fixture, slots) }
  for (const [chain, seed] of Object.entries(seeds)) {
    const datadir = temporaryDirectory(ending)
    await importViewChain(datadir, await writeViewChain(ending, seed))
    answers[chain] = await askAll(ending, datadir, slots)
  }
  return answers
}

async function askAll(ending: After, datadir: string, withSlots: boolean): Promise<Answers> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  ending.after(close)
  const call: Answers['call'] = (method, params) => callMethod(context, method, params)
  const db = openForQueries(datadir, () => [])
  ending.after(() => void db.close())
  const pluck = (sql: string) => db.prepare<[], string>(sql).pluck().all()
  const head = Number(pluck('SELECT max(number) FROM blocks')[0])
  const numbers = Array.from({ length: head + 1 }, (_, number) => `0x${number.toString(16)}`)
  const overBlocks = <T>(method: string, params: (number: string) => unknown[]) =>
    Promise.all(numbers.map((number) => call<T>(method, params(number))))
  // All addresses and slots that were ever changed: what the views could lack is a row of one of these.
  const addresses = pluck("SELECT '0x' || lower(hex(address)) FROM addresses")
  const slots = db
    .prepare<[], [string, string]>(
      `SELECT DISTINCT '0x' || lower(hex(a.address)), '0x' || printf('%064s', lower(hex(h.slot)))
       FROM (SELECT * FROM storage_tip UNION ALL SELECT * FROM storage_recent UNION ALL SELECT * FROM storage_older UNION ALL SELECT * FROM storage_history) h JOIN addresses a ON a.id = h.address_id`,
    )
    .raw()
    .all()
    .map(([address, slot]) => [address, slot.replaceAll(' ', '0')])
  const accounts = new Map<string, Account[]>()
  for (const address of addresses) {
    const [balances, nonces, codes] = await Promise.all([
      overBlocks<Hex>('eth_getBalance', (number) => [address, number]),
      overBlocks<Hex>('eth_getTransactionCount', (number) => [address, number]),
      overBlocks<Hex>('eth_getCode', (number) => [address, number]),
    ])
    const ofBlock = (balance: Hex, i: number): Account => ({
      balance: `${hexToBigInt(balance)}`,
      nonce: Number(nonces[i]),
      code: codes[i],
      codeHash: codes[i] === '0x' ? null : keccak256(codes[i]),
    })
    accounts.set(address, balances.map(ofBlock))
  }
  const values = new Map<string, string[]>()
  for (const [address, slot] of withSlots ? slots : []) {
    values.set(`${address} ${slot}`, await overBlocks<string>('eth_getStorageAt', (number) => [address, slot, number]))
  }
  const blocks = await overBlocks<Block>('eth_getBlockByNumber', (number) => [number, true])
  const receipts = await overBlocks<Receipt[]>('eth_getBlockReceipts', (number) => [number])
  return { db, datadir, call, blocks, receipts, addresses, accounts, slots: values }
}
