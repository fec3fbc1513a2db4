import type { SeededRandom } from '../random.js'

/** Operands around the bounds of memory, gas and code. */
const EDGES = [
  ...['00', '01', '20', '40', 'ff', '0100', '8000', 'c001', '010001', '7fffffe0', '80000000', 'ffffffe0', '0100000000'],
  ...['1fffffffe0', '1fffffffe1', '2000000000', '20000000000000', '3fffffffffffffff', 'ffffffffffffffe0'],
  ...['ffffffffffffffe1', 'ffffffffffffffff', '010000000000000000', 'ff'.repeat(32)],
]
const SMALL = ['00', '20', '01', '0100']
const ADDRESSES = [
  '01',
  '02',
  '03',
  '04',
  '05',
  '06',
  '07',
  '08',
  '09',
  '0a',
  '0b',
  '0e',
  '0f',
  '12',
  'c0',
  'cc',
  'dd',
  'aa',
]

/** Instructions whose price depends on operands or state, with the number of operands. */
const PRICED: readonly (readonly [opcode: number, pops: number])[] = [
  ...([
    [0x0a, 2],
    [0x20, 2],
    [0x31, 1],
    [0x37, 3],
    [0x39, 3],
    [0x3b, 1],
    [0x3c, 4],
    [0x3e, 3],
  ] as const),
  ...([
    [0x3f, 1],
    [0x51, 1],
    [0x52, 2],
    [0x53, 2],
    [0x54, 1],
    [0x55, 2],
    [0x5c, 1],
    [0x5d, 2],
  ] as const),
  ...([
    [0x5e, 3],
    [0xa0, 2],
    [0xa2, 4],
    [0xa4, 6],
    [0xf0, 3],
    [0xf1, 7],
    [0xf2, 7],
    [0xf3, 2],
  ] as const),
  ...([
    [0xf4, 6],
    [0xf5, 4],
    [0xfa, 6],
    [0xfd, 2],
    [0xff, 1],
  ] as const),
]
const ACCOUNT_ON_TOP = new Set([0x31, 0x3b, 0x3c, 0x3f, 0xff])
const ACCOUNT_BELOW = new Set([0xf1, 0xf2, 0xf4, 0xfa])

const push = (hex: string) => (0x5f + hex.length / 2).toString(16) + hex
const hexByte = (value: number) => value.toString(16).padStart(2, '0')

/** The hex code of a program of a few instructions. Most programs fail, each in its own way. */
export function edgeProgram(random: SeededRandom): string {
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]
  let out = ''
  for (let count = 1 + random.below(4); count > 0; count--) {
    if (random.below(12) === 0) {
      out += hexByte(random.below(256))
      continue
    }
    const [opcode, pops] = pick(PRICED)
    for (let n = pops; n > 0; n--) {
      const isAddress = (n === 1 && ACCOUNT_ON_TOP.has(opcode)) || (n === 2 && ACCOUNT_BELOW.has(opcode))
      out += push(isAddress ? pick(ADDRESSES) : random.below(3) > 0 ? pick(SMALL) : pick(EDGES))
    }
    out += hexByte(opcode)
  }
  return out + (random.below(2) === 0 ? '' : 'fd')
}
