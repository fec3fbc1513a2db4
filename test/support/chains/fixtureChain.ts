/* The bundled fixture chain, fixtures/chain, as its clients see it. A test holds the chain to the byte, so that these
 * may be written down. tools/fixture/scenario.ts describes its story. */

/** Chain id of the bundled fixture. */
export const CHAIN_ID = 20_261
/** Its last block. */
export const HEAD = 74
/** First block of Amsterdam. */
export const AMSTERDAM = 61

export const ALICE = '0xb93570e8995d88d39d0af6e3ffb80e39f7144c75'
export const BOB = '0xcf15d2ba0a658426b2a12c3d46f91478de39eacb'
export const CAROL = '0x221bb027774bab0df7af52d570f14821a7402cba'
/** Its code is a delegation to the token in blocks 40 to 45 (EIP-7702). */
export const DELEGATOR = '0x7f141eaacd585a6b7656f0f3657b309226b5941b'
/** An address without an account. */
export const ABSENT_ACCOUNT = '0x00000000000000000000000000000000deadbeef'

/** Logs `Numbered`; from block 2 on. */
export const EMITTER = '0x919b6b1e842e1efa06ba55e4615d95cf4a59df65'
/** The token `Cairn Stone`; from block 15 on, minted in block 16. */
export const TOKEN = '0xed01f80b3b7f874af79e90e91e4ccca7fce24344'
/** Fails in every way; from block 15 on. */
export const REVERTER = '0x7385ece17c5d9b50302f45af6251bcac739ea6e2'
/** A counter made in block 4, called in 5 and 6, destroyed in 7. */
export const COUNTER = '0x920ea1b70a9d375eb674b11f20ee1cee7677b0af'
/** Makes counters with CREATE2; from block 16 on. */
export const FACTORY = '0x1fcbed8572d88d14b24d1e8a7f86d766a1f9c509'
/** The factory's counter: made in block 17, called twice in 18, destroyed in 19, made again and called once in 20. */
export const CHILD = '0xe5c4a9213b1e43baa0c281c69230bae8297b43c0'
/** Uses what Cancun brought; from block 36 on. */
export const PROBE = '0xb62f7595911f2438c2a5d403ef2e133b23e9a292'

/** Gets its first ether in block 61, and a withdrawal in 71. */
export const NEWCOMER = '0xeec6cc6b841ce45672ae12317d1ed7d898bd6f86'
/** Its code is a delegation to the token from block 71 on. */
export const AMSTERDAM_DELEGATOR = '0x85c4d5442f8d561558a422366337bd4762f74368'
/** Uses what Amsterdam brought, called in blocks 63 and 71; from block 62 on. */
export const AMSTERDAM_PROBE = '0x196347395f346f4c771310ab2f7119929d71820a'
/** Sends the value on to the address in its input; from block 62 on, called in 64. */
export const FORWARDER = '0x36855a72a5b1e9d23b96760a7dcfd2690c1db1c4'
/** Stores the second word of its input at the slot in the first: slots 1 and 2 in block 63, cleared in 65. */
export const STORE = '0xaef9ad67e2423d5d7e3f0859f6b6b2311bb1dd02'
/** Has 25,000 bytes of code; from block 66 on. */
export const LARGE_CONTRACT = '0x38f38f9dcdc185e82338cd42ec6a31e9fa1acb57'
/** Keeps the 7 wei with which it was created and destroyed itself in block 69 (EIP-8246). */
export const DESTROYED = '0xa56ffb457667e6418b0e5590e5d477262231a844'
/** Address of the logs of ether transfers (EIP-7708). */
export const ETHER_TRANSFERS = '0xfffffffffffffffffffffffffffffffffffffffe'

export const ETHER = 10n ** 18n

/** Functions, events and errors of the fixture's contracts, in the words that clients read. */
export const ABI = [
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address holder) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function failString() view returns (uint256)',
  'function failPanic() view returns (uint256)',
  'function failCustom() view returns (uint256)',
  'function failEmpty() view returns (uint256)',
  'function failInvalid() view returns (uint256)',
  'function spin() view returns (uint256)',
  'error NotAllowed(address caller, uint256 code)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Numbered(uint256 indexed number, address indexed caller, uint256 indexed seed)',
  'event Counted(uint256 count)',
] as const

/** The token's balances after the last block. */
export const BALANCES = {
  [ALICE]: 975n * ETHER - 3n + 2n - 5n,
  [BOB]: 24n * ETHER + 1n - 2n + 5n,
  [CAROL]: ETHER + 3n - 1n,
}

/** First topic of the emitter's logs, keccak-256 of `Numbered(uint256,address,uint256)`. */
export const NUMBERED_TOPIC = '0xf08e32ff64450cca5b8aec304231bfac198b40944b7058df408baf6979d9f30a'
/** First topic of the token's logs, keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A transfer of the token that the chain holds. */
export interface FixtureTransfer {
  block: number
  from: string
  to: string
  value: bigint
}

/** All transfers of the token, in order; the first is the minting. */
export const TRANSFERS: readonly FixtureTransfer[] = [
  { block: 16, from: `0x${'00'.repeat(20)}`, to: ALICE, value: 1000n * ETHER },
  { block: 22, from: ALICE, to: BOB, value: 25n * ETHER },
  { block: 26, from: BOB, to: CAROL, value: ETHER },
  { block: 30, from: ALICE, to: CAROL, value: 3n },
  { block: 31, from: CAROL, to: BOB, value: 1n },
  { block: 31, from: BOB, to: ALICE, value: 2n },
  { block: 34, from: ALICE, to: BOB, value: 5n },
]
