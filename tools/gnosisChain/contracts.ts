import { concatBytes } from '../../src/lib/bytes.js'
import { parseHex } from '../../src/lib/hex.js'

/** 20 bytes. */
export const REWARD_CONTRACT = parseHex('0x00000000000000000000000000000000000c0de1')
/** 20 bytes. */
export const WITHDRAWAL_CONTRACT = parseHex('0x00000000000000000000000000000000000c0de2')
/** 20 bytes. */
export const FEE_COLLECTOR = parseHex('0x00000000000000000000000000000000000fee01')

const IS_SYSTEM = '3373fffffffffffffffffffffffffffffffffffffffe14' // CALLER == SYSTEM_ADDRESS
const LOG = '5f5fa0' // LOG0 of nothing

/** Assembles hex; `@name` is a byte with the position of `:name`, where JUMPDEST goes. */
function assemble(...parts: readonly string[]): Uint8Array {
  const items = parts.join(' ').split(/\s+/)
  const labels = new Map<string, number>()
  let at = 0
  for (const item of items) {
    if (item.startsWith(':')) labels.set(item.slice(1), at)
    at += /^[:@]/.test(item) ? 1 : item.length / 2
  }
  const byte = (value: number) => value.toString(16).padStart(2, '0')
  const hex = items.map((item) => {
    if (item.startsWith(':')) return '5b'
    return item.startsWith('@') ? byte(labels.get(item.slice(1))!) : item
  })
  return parseHex(`0x${hex.join('')}`)
}

/** Code of a contract of block rewards. From anyone, an account and an amount are kept for the next call of the system,
 *  which returns and forgets them, as lists; a single word makes that call fail unless it is zero. */
export const REWARD_CODE = assemble(
  ...[IS_SYSTEM, '60 @system 57', '36602014 60 @flag 57'],
  '5f54 8080 01', // n, 2n
  '5f35 81600101 55', // slot 2n + 1: account
  '602035 81600201 55', // slot 2n + 2: amount
  '50 600101 5f55 00',
  ':flag 5f35609955 00',
  ':failing 5f5ffd',
  ':system 609954 60 @failing 57',
  ...[LOG, '5f54'], // n
  '60405f52 80 60051b606001 602052 80604052', // offsets, length
  '8080 60051b606001 52', // length
  '5f :next 818110 15 60 @end 57', // i
  '8080 01600101 54 8160051b606001 52',
  '8080 01600201 54 818301 60051b608001 52',
  '600101 60 @next 56',
  ':end 50 5f5f55 60061b608001 5ff3',
)

/** Code of a contract of withdrawals, for the system alone. Adds each amount to the slot of the account, calls the
 *  account with little gas, and counts the calls that fail in slot 0. Keeps how many failed ones it may process in
 *  slot 1. */
export const WITHDRAWAL_CODE = assemble(
  ...[IS_SYSTEM, '60 @system 57 5f5ffd'],
  ...[':system', LOG, '600435600155'],
  '602435600401 604435600401 8135 5f', // amounts, accounts, n, i
  ':next 818110 15 60 @end 57 600101',
  '8060051b830135 8160051b850135', // account, amount
  '80825401 8255 50', // slot of the account
  '5f5f5f5f5f 85 617530 f1 15 5f5401 5f55',
  '50 60 @next 56',
  ':end 00',
)

/** Input that keeps a reward for the next call of the system. */
export function order(address: Uint8Array, wei: bigint): Uint8Array {
  return concatBytes(new Uint8Array(12), address, parseHex(`0x${wei.toString(16).padStart(64, '0')}`))
}
