import { concatBytes } from '../../src/lib/bytes.js'
import type { BlockLogs } from '../../test/support/chains/logChain.js'

/* What makes anvil log what the synthetic chain logged: code of a few lines that stands at the address of every
 * contract and logs what its calldata say, and a dispatcher that calls them in turn. */

const OP = {
  STOP: 0x00,
  ADD: 0x01,
  SUB: 0x03,
  LT: 0x10,
  EQ: 0x14,
  ISZERO: 0x15,
  SHL: 0x1b,
  SHR: 0x1c,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  POP: 0x50,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  PUSH1: 0x60,
  DUP1: 0x80,
  SWAP1: 0x90,
  LOG0: 0xa0,
  CALL: 0xf1,
  REVERT: 0xfd,
} as const

const push = (value: number) => [OP.PUSH1, value]
const dup = (depth: number) => OP.DUP1 + depth - 1

/** Code of a contract that logs once: its calldata are the count of topics in one byte, the topics, and the data. */
export function emitterCode(): Uint8Array {
  const head = [
    ...[OP.PUSH0, OP.CALLDATALOAD, ...push(248), OP.SHR], // count
    ...[dup(1), ...push(5), OP.SHL, ...push(1), OP.ADD], // count, where the data start
    ...[dup(1), OP.CALLDATASIZE, OP.SUB], // count, start, size of the data
    ...[dup(1), dup(3), OP.PUSH0, OP.CALLDATACOPY],
  ]
  const branches = [0, 1, 2, 3, 4].map((count) => [
    OP.JUMPDEST,
    ...Array.from({ length: count }, (_, i) => [...push(1 + 32 * (count - 1 - i)), OP.CALLDATALOAD]).flat(),
    ...[dup(count + 1), OP.PUSH0, OP.LOG0 + count, OP.STOP],
  ])
  // Each jump: DUP3 PUSH1 count EQ PUSH1 target JUMPI.
  let target = head.length + branches.length * 7
  const jumps = branches.flatMap((branch, count) => {
    const jump = [dup(3), ...push(count), OP.EQ, ...push(target), OP.JUMPI]
    target += branch.length
    return jump
  })
  return Uint8Array.from([...head, ...jumps, ...branches.flat()])
}

/** Code that makes the calls of `dispatcherInput` in turn, and reverts when one fails. */
export function dispatcherCode(): Uint8Array {
  const begin = [OP.PUSH0] // offset in the calldata
  const loop = begin.length
  const test = [OP.JUMPDEST, OP.CALLDATASIZE, dup(2), OP.LT, OP.ISZERO]
  const call = [
    ...[dup(1), OP.CALLDATALOAD], // offset, word
    ...[dup(1), ...push(224), OP.SHR], // offset, word, length
    ...[dup(1), dup(4), ...push(32), OP.ADD, OP.PUSH0, OP.CALLDATACOPY],
    // The address is the lower 20 bytes of the word: CALL looks at no more.
    ...[OP.PUSH0, OP.PUSH0, dup(3), OP.PUSH0, OP.PUSH0, dup(7), OP.GAS, OP.CALL, OP.ISZERO],
  ]
  const next = [OP.SWAP1, OP.POP, OP.ADD, ...push(32), OP.ADD, ...push(loop), OP.JUMP]
  const failed = loop + test.length + 3 + call.length + 3 + next.length
  const ends = [OP.JUMPDEST, OP.PUSH0, OP.PUSH0, OP.REVERT, OP.JUMPDEST, OP.STOP]
  return Uint8Array.from([
    ...[...begin, ...test, ...push(failed + 4), OP.JUMPI],
    ...[...call, ...push(failed), OP.JUMPI, ...next],
    ...ends,
  ])
}

/** Calldata of the dispatcher that log all logs of a transaction. */
export function dispatcherInput(logs: BlockLogs[number]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const { address, topics, data } of logs) {
    const payload = concatBytes(Uint8Array.of(topics.length), ...topics, data)
    const word = new Uint8Array(32)
    new DataView(word.buffer).setUint32(0, payload.length)
    word.set(address, 12)
    parts.push(word, payload)
  }
  return concatBytes(...parts)
}
