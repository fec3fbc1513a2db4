import { concatBytes } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { assemble } from '../fixture/assembler.js'
import { COUNTER_INIT, FACTORY, selector } from '../fixture/contracts.js'

/** Bytes of `deployer` before the runtime code. */
const DEPLOYER_BYTES = 13

const ERROR_HEAD = formatData(concatBytes(selector('Error(string)'), new Uint8Array(28)))
const PANIC_HEAD = formatData(concatBytes(selector('Panic(uint256)'), new Uint8Array(28)))

/** Contracts that random programs hardly ever are. Those that read call data take words. */
export const CONTRACTS: { readonly [name: string]: Uint8Array } = {
  /** Calls itself with all gas but 1000 until the depth or the gas ends it. */
  recurser: assemble('0 0 0 0 0 address 1000 gas sub call 0 sstore stop'),
  /** The same by STATICCALL and DELEGATECALL in turn, with all gas. */
  mirror: assemble('0 0 0 0 address gas staticcall 0 0 0 0 address gas delegatecall add 0 mstore 32 0 return'),
  /** Returns as many zeros as the first word says. */
  bomb: assemble('0 calldataload 0 return'),
  /** Calls the address in the first word with the second as input, copies all that comes back and reverts with it. */
  relay: assemble(`
    32 calldataload 0 mstore
    0 0 32 0 0 0 calldataload gas call
    returndatasize 0 0 returndatacopy
    pop returndatasize 0 revert`),
  /** CREATE with the length in the first word and the value in the second. */
  creator: assemble('0 calldataload 0 32 calldataload create 0 mstore 32 0 return'),
  /** CREATE2 with the length in the first word and the salt in the second. */
  creator2: assemble('32 calldataload 0 calldataload 0 0 create2 0 mstore 32 0 return'),
  /** Reads memory at the first word, hashes as much as the second says. */
  reader: assemble('0 calldataload mload 32 calldataload 0 keccak256 add 0 sstore stop'),
  /** Changes something, as the first byte says: SSTORE, LOG1, CREATE, SELFDESTRUCT, CALL with value, TSTORE. */
  writer: assemble(`
    ${1n << 248n} 0 calldataload div
    dup1 1 eq @log jumpi dup1 2 eq @create jumpi dup1 3 eq @destroy jumpi dup1 4 eq @pay jumpi dup1 5 eq @transient jumpi
    0 sload 1 add 0 sstore stop
    :log 7 32 0 log1 stop
    :create 0 0 0 create stop
    :destroy caller selfdestruct
    :pay 0 0 0 0 1 caller 2300 call stop
    :transient 9 1 tstore stop`),
  /** Calls the address in the first word with the byte in the second, by each kind of call, static ones too; logs what
   *  came. */
  prober: assemble(`
    32 calldataload 0 mstore
    0 0 1 31 0 calldataload 60000 staticcall
    0 0 1 31 1 0 calldataload 60000 call
    0 0 1 31 0 0 calldataload 60000 callcode
    0 0 1 31 0 calldataload 60000 delegatecall
    add add add 32 mstore 64 0 log0 stop`),
  /** Reverts with Error("no"), or Panic(0x11) if there is call data. */
  reverter: assemble(`
    calldatasize @panic jumpi
    ${ERROR_HEAD} 0 mstore 32 4 mstore 2 36 mstore 0x6e6f000000000000000000000000000000000000000000000000000000000000 68 mstore 100 0 revert
    :panic ${PANIC_HEAD} 0 mstore 17 4 mstore 36 0 revert`),
  /** Touches the address in the first word without value, then fails. */
  toucher: assemble('0 0 0 0 0 0 calldataload 5000 call invalid'),
  /** Destroys itself to the address in the first word, after a transfer of 1 wei to it. */
  destroyer: assemble('0 0 0 0 1 0 calldataload gas call 0 calldataload selfdestruct'),
  /** Makes counters with CREATE2: a collision the second time. */
  factory: FACTORY.slice(DEPLOYER_BYTES),
  /** Counts, or destroys itself with call data of a word. */
  counter: COUNTER_INIT.slice(DEPLOYER_BYTES),
}
