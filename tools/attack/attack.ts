import type { SeededRandom } from '../../test/support/random.js'

/** Where an attack is aimed: a server on loopback, with a key of the attacker's own. */
export interface Target {
  readonly host: string
  readonly port: number
  /** Path of the HTTP interface, with the key. */
  readonly path: string
  /** Path of the WebSocket interface, with the key. */
  readonly socketPath: string
  /** Path of SQL, with the key. */
  readonly sqlPath: string
  /** Paths of the HTTP interface with the keys of ten clients. */
  readonly clientPaths: readonly string[]
  /** The data directory of the server, for what the server's operator is given and does, or what its disk does. */
  readonly datadir: string
}

/** What an attack may use. It has to end when `signal` is aborted. */
export interface Attacker {
  readonly target: Target
  readonly random: SeededRandom
  readonly signal: AbortSignal
  /** How hard it attacks: 1 is the size that the table of docs/verification.md was measured with. */
  readonly scale: number
  /** Counts an outcome, such as `answered` or `refused 503`, for the report. One that begins with `FAULT` fails the
   *  run. */
  count(outcome: string): void
}

/** How the outcomes begin that fail the run: what no attack may ever achieve. */
export const FAULT = 'FAULT'

/** One kind of attack. */
export interface Attack {
  readonly name: string
  /** One sentence for the report. */
  readonly what: string
  /** Options of `cairn serve`, besides the defaults. */
  readonly options?: readonly string[]
  /** The data directory is on a file system of its own, of a few megabytes. Skipped where none can be mounted. */
  readonly needsSmallDisk?: boolean
  /** Attacks until `attacker.signal` is aborted, then lets go of its connections. */
  run(attacker: Attacker): Promise<void>
}
