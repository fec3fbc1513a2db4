import { appendFileSync } from 'node:fs'
import { keccak256 } from '../../../src/chain/crypto.js'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import type { Withdrawal } from '../../../src/chain/eth/types.js'
import { bigIntToFixedBytes, concatBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import {
  type ChainBuilder,
  createChainBuilder,
  createSender,
  type Sender,
} from '../../../tools/fixture/chainBuilder.js'

/** The contract with many slots: those from 0 on, each one more than its number. */
export const VAULT = `0x${'5a'.repeat(20)}`
// Called with a first slot and a number of slots: sets each of them to the number of the next slot.
const VAULT_CODE = assemble(`
  0 calldataload 32 calldataload dup2 add
  :loop dup1 dup3 lt iszero @done jumpi
  dup2 1 dup2 add swap1 sstore
  swap1 1 add swap1 @loop jump
  :done stop`)

const GENESIS_TIME = 1_735_689_600

/** A chain under Shanghai's rules from block 0 on, with one funded sender and the vault. */
export function createStateGenesis(sender: Sender): object {
  return {
    config: {
      chainId: 20_264,
      homesteadBlock: 0,
      eip150Block: 0,
      eip155Block: 0,
      eip158Block: 0,
      byzantiumBlock: 0,
      constantinopleBlock: 0,
      petersburgBlock: 0,
      istanbulBlock: 0,
      berlinBlock: 0,
      londonBlock: 0,
      mergeNetsplitBlock: 0,
      terminalTotalDifficulty: 0,
      shanghaiTime: 0,
    },
    nonce: '0x0',
    timestamp: `0x${GENESIS_TIME.toString(16)}`,
    extraData: '0x',
    gasLimit: '0x5f5e100', // 100 million
    difficulty: '0x0',
    baseFeePerGas: '0x3b9aca00',
    mixHash: `0x${'00'.repeat(32)}`,
    coinbase: `0x${'00'.repeat(20)}`,
    alloc: {
      [formatData(sender.address)]: { balance: '0xd3c21bcecceda1000000' },
      [VAULT]: { balance: '0x0', nonce: '0x1', code: formatData(VAULT_CODE) },
    },
  }
}

// What a block brings to the state while it grows.
const NEW_ACCOUNTS = 5_000
const NEW_SLOTS = 1_000
/** Slots that each of the later blocks sets. */
export const UPDATED_SLOTS = 100

/** Writes the chain as a file of RLP blocks: first blocks that make `accounts` accounts, by withdrawals of 5,000 a
 *  block, and 1,000 slots of one contract each; then `updateBlocks` blocks that change the balances of `updates`
 *  accounts each and set 100 new slots.
 *  @returns the number of the last block that the state grew with */
export async function writeStateChain(
  db: Database,
  path: { growth: string; updates: string },
  { accounts, updates, updateBlocks }: { accounts: number; updates: number; updateBlocks: number },
): Promise<number> {
  const sender = createSender('state bench')
  const builder = await createChainBuilder(db, createStateGenesis(sender))
  let slots = 0
  const setSlots = (count: number) => {
    const input = concatBytes(bigIntToFixedBytes(BigInt(slots), 32), bigIntToFixedBytes(BigInt(count), 32))
    slots += count
    return { sender, to: parseHex(VAULT), input, gasLimit: 25_000n * BigInt(count) + 50_000n }
  }
  for (let made = 0; made < accounts; made += NEW_ACCOUNTS) {
    const count = Math.min(NEW_ACCOUNTS, accounts - made)
    await builder.add({
      transactions: [setSlots(NEW_SLOTS)],
      withdrawals: Array.from({ length: count }, (_, i) => withdrawalTo(made + i)),
    })
    writeLast(builder, path.growth)
  }
  const grown = Math.ceil(accounts / NEW_ACCOUNTS)
  for (let block = 0; block < updateBlocks; block++) {
    // Spread over the accounts; a linear step meets each account once before it meets one twice.
    const first = block * updates
    const chosen = Array.from({ length: updates }, (_, i) => ((first + i) * 7_919) % accounts)
    await builder.add({ transactions: [setSlots(UPDATED_SLOTS)], withdrawals: chosen.map(withdrawalTo) })
    writeLast(builder, path.updates)
  }
  return grown
}

/** A withdrawal to the n-th account. */
export function withdrawalTo(account: number): Withdrawal {
  return {
    index: 0n,
    validatorIndex: 0n,
    address: accountAddress(account),
    amountGwei: 1_000_000_000n + BigInt(account),
  }
}

/** The address of the n-th account. */
export function accountAddress(account: number): Uint8Array {
  return keccak256(bigIntToFixedBytes(BigInt(account), 8)).slice(12)
}

function writeLast(builder: ChainBuilder, path: string): void {
  appendFileSync(path, encodeBlock(builder.blocks.pop()!))
}
