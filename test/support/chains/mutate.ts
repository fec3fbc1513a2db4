import type { SeededRandom } from '../random.js'

/** The bytes with one to four faults: flipped bits, bytes of extremes, a cut, an insertion, a repeated or a removed
 *  part, or a wrong length. */
export function mutate(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  let out = Buffer.from(bytes)
  for (let faults = 1 + random.below(4); faults > 0; faults--) out = mutateOnce(out, random)
  return new Uint8Array(out)
}

/** Values that decoders take for lengths, depths and ends. */
const EXTREMES = [0x00, 0x7f, 0x80, 0xb7, 0xbf, 0xc0, 0xf7, 0xf8, 0xfb, 0xff, 0x22, 0x5b, 0x5c, 0x7b, 0x0a, 0x2d, 0x39]

function mutateOnce(bytes: Buffer, random: SeededRandom): Buffer<ArrayBuffer> {
  const at = random.below(Math.max(bytes.length, 1))
  const length = 1 + random.below(random.below(4) === 0 ? 5000 : 8)
  const [head, part, tail] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)]
  const filled = () => Buffer.alloc(length, EXTREMES[random.below(EXTREMES.length)])
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      if (flipped.length > 0) flipped[at] ^= 1 << random.below(8)
      return flipped
    }
    case 1:
      return Buffer.concat([head, filled(), tail])
    case 2:
      return Buffer.from(head)
    case 3:
      return Buffer.concat([head, filled(), part, tail])
    case 4:
      return Buffer.concat([head, Buffer.from(random.bytes(length)), part, tail])
    case 5:
      return Buffer.concat([head, part, part, tail])
    case 6:
      return Buffer.concat([head, tail])
    default: {
      const digits = ['18446744073709551616', '-1', '1e400', '9'.repeat(length), '"', 'null', '{', '[']
      return Buffer.concat([head, Buffer.from(digits[random.below(digits.length)]), tail])
    }
  }
}
