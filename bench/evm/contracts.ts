import { concatBytes } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { assemble } from '../../tools/fixture/assembler.js'
import { eventTopic, selector } from '../../tools/fixture/contracts.js'

const hex = (bytes: Uint8Array) => formatData(bytes)
const sel = (signature: string) => hex(selector(signature))
/** A selector as the word that MSTORE lays at the begin of call data. */
const selectorWord = (signature: string) => hex(concatBytes(selector(signature), new Uint8Array(28)))

/** A token as OpenZeppelin's: balances at keccak(holder . 0), allowances at keccak(spender . keccak(owner . 1)). */
export const TOKEN_CODE = assemble(`
  0 calldataload 224 shr
  dup1 ${sel('balanceOf(address)')} eq @balanceOf jumpi
  dup1 ${sel('transfer(address,uint256)')} eq @transfer jumpi
  dup1 ${sel('transferFrom(address,address,uint256)')} eq @transferFrom jumpi
  :fail 0 0 revert
  :balanceOf 4 calldataload 0 mstore 0 32 mstore 64 0 keccak256 sload 0 mstore 32 0 return
  :transfer caller 36 calldataload 4 calldataload @move jump
  :transferFrom
    4 calldataload 0 mstore 1 32 mstore 64 0 keccak256 32 mstore
    caller 0 mstore 64 0 keccak256                    ; slot
    dup1 sload                                        ; slot, allowed
    68 calldataload dup2 lt @fail jumpi
    68 calldataload swap1 sub swap1 sstore
    4 calldataload 68 calldataload 36 calldataload
  :move                                               ; from, amount, to
    dup3 0 mstore 0 32 mstore 64 0 keccak256
    dup1 sload                                        ; from, amount, to, slot, balance
    dup4 dup2 lt @fail jumpi
    dup4 swap1 sub swap1 sstore
    dup1 0 mstore 64 0 keccak256
    dup1 sload dup4 add swap1 sstore                  ; from, amount, to
    swap1 0 mstore
    swap1 ${hex(eventTopic('Transfer(address,address,uint256)'))} 32 0 log3
    1 0 mstore 32 0 return`)

/** A pair of two tokens that does what Uniswap v2's does in a swap of the first for the second: the lock, the packed
 *  reserves, the fee of 0.3 %, both transfers, both balances, the check of the product, Sync and Swap. Slot 0 is the
 *  lock, 1 when open; slot 1 the reserves, each of 112 bits. `swap(uint256 amountIn, address to)` returns the amount
 *  out. */
export function pairCode(token0: Uint8Array, token1: Uint8Array): Uint8Array {
  const balanceOfThis = (token: Uint8Array) => `
    ${selectorWord('balanceOf(address)')} 0 mstore address 4 mstore
    32 0 36 0 ${hex(token)} gas staticcall iszero @fail jumpi 0 mload`
  return assemble(`
    0 sload 1 eq iszero @fail jumpi
    2 0 sstore
    1 sload dup1 0x${'f'.repeat(28)} and swap1 112 shr  ; r0, r1
    4 calldataload 997 mul                              ; r0, r1, in after the fee
    dup1 dup3 mul swap1 dup4 1000 mul add swap1 div     ; r0, r1, out
    ${selectorWord('transferFrom(address,address,uint256)')} 0 mstore
      caller 4 mstore address 36 mstore 4 calldataload 68 mstore
      32 0 100 0 0 ${hex(token0)} gas call iszero @fail jumpi
      0 mload 1 eq iszero @fail jumpi
    ${selectorWord('transfer(address,uint256)')} 0 mstore 36 calldataload 4 mstore dup1 36 mstore
      32 0 68 0 0 ${hex(token1)} gas call iszero @fail jumpi
      0 mload 1 eq iszero @fail jumpi
    ${balanceOfThis(token0)} ${balanceOfThis(token1)}   ; r0, r1, out, b0, b1
    dup2 1000 mul 4 calldataload 3 mul swap1 sub dup2 1000 mul mul
    dup6 dup6 mul 1000000 mul swap1 lt @fail jumpi
    dup1 112 shl dup3 or 1 sstore
    dup2 0 mstore dup1 32 mstore ${hex(eventTopic('Sync(uint112,uint112)'))} 64 0 log1
    4 calldataload 0 mstore dup3 32 mstore
      36 calldataload caller ${hex(eventTopic('Swap(address,uint256,uint256,address)'))} 64 0 log3
    1 0 sstore
    pop pop 0 mstore 32 0 return
    :fail 0 0 revert`)
}

/** Calls others and returns the first word that each returns. Call data after the selector: the count in a word, then
 *  for each call its target in a word and 36 bytes of call data. */
export const MULTICALL_CODE = assemble(`
  0                                                     ; i
  :loop
    dup1 4 calldataload eq @done jumpi
    dup1 68 mul 36 add                                  ; i, where the call is
    36 dup2 32 add 0 calldatacopy
    0 0 36 0 dup5 calldataload gas staticcall iszero @fail jumpi
    32 returndatasize lt @fail jumpi
    pop 32 0 dup3 32 mul 64 add returndatacopy
    1 add @loop jump
  :done 32 mul 64 return
  :fail 0 0 revert`)

/** Constants of the arithmetic loop: two full words, one of 136 bits, and the order of secp256k1's field. */
export const ARITHMETIC = {
  factor: 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95n,
  modulus: 0x7fffffff5d576e7357a4501ddfe92f46681b20a0c0ffee1234567890abcdef01n,
  divisor: 0xd1b54a32d192ed03af251af3b5c0ffee77n,
  prime: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn,
} as const

const word = (value: bigint) => `0x${value.toString(16)}`

/** Rounds of MUL, ADD, ADDMOD, DIV, XOR and MOD on full words: `(uint256 rounds, uint256 seed)`. */
export const ARITHMETIC_CODE = assemble(`
  4 calldataload 36 calldataload 0                      ; n, x, sum
  :loop
    dup3 iszero @done jumpi
    swap1 ${word(ARITHMETIC.factor)} mul dup3 add swap1
    ${word(ARITHMETIC.prime)} dup3 dup3 addmod swap1 pop
    ${word(ARITHMETIC.divisor)} dup3 div xor
    ${word(ARITHMETIC.modulus)} dup3 mod add
    swap2 1 swap1 sub swap2
    @loop jump
  :done 0 mstore 32 0 return`)

/** Hashes 64 bytes, the hash before and the round, again and again: `(uint256 rounds, uint256 seed)`. */
export const KECCAK_CODE = assemble(`
  36 calldataload 0 mstore 4 calldataload               ; n
  :loop
    dup1 iszero @done jumpi
    dup1 32 mstore 64 0 keccak256 0 mstore
    1 swap1 sub @loop jump
  :done 32 0 return`)

/** The sum of slots: `(uint256 first, uint256 count)`. */
export const SLOADS_CODE = assemble(`
  4 calldataload dup1 36 calldataload add 0             ; slot, end, sum
  :loop
    dup3 dup3 eq @done jumpi
    dup3 sload add
    swap2 1 add swap2
    @loop jump
  :done 0 mstore 32 0 return`)
