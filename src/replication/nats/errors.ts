import { CairnError } from '../../lib/errors.js'

/** Another writer publishes: this one must stop. */
export class Fenced extends CairnError {
  /** Sequence of the message in the place of this writer's. */
  readonly sequence: number
  /** Epoch of that message; undefined when it could not be read. */
  readonly epoch: number | undefined
  constructor(stream: string, sequence: number, epoch: number | undefined) {
    const other = epoch === undefined ? 'another writer' : `a writer of epoch ${epoch}`
    super(`stream ${stream}: message ${sequence} is that of ${other}: this one has lost the lease`)
    this.sequence = sequence
    this.epoch = epoch
  }
}

/** The stream has messages that this process has not applied: it must not start to publish. */
export class StreamAdvanced extends CairnError {
  /** The last sequence that was applied, and the last of the stream. */
  readonly applied: number
  readonly last: number
  constructor(stream: string, applied: number, last: number) {
    super(`stream ${stream}: messages ${applied + 1} to ${last} are not applied here: apply them before publishing`)
    this.applied = applied
    this.last = last
  }
}

/** The stream with the name of this chain's stream belongs to another chain. */
export class StreamOfOtherChain extends CairnError {
  constructor(stream: string, expected: string, actual: string) {
    super(`stream ${stream}: expected the subject ${expected}, got ${actual}: it is another chain's, or not Cairn's`)
  }
}

/** The stream does not exist: nothing was published. */
export class StreamMissing extends CairnError {
  constructor(stream: string) {
    super(`stream ${stream}: not found: no writer has published to these servers`)
  }
}

/** The stream was deleted and created again. */
export class StreamReplaced extends CairnError {
  constructor(stream: string, expected: string) {
    super(`stream ${stream}: expected ${expected}: it was deleted and created again`)
  }
}

/** The last sequence of the stream is lower than one acknowledged to a writer: the stream lost messages. */
export class StreamWentBack extends CairnError {
  readonly acknowledged: number
  readonly last: number
  constructor(stream: string, acknowledged: number, last: number) {
    super(`stream ${stream}: message ${acknowledged} was acknowledged, and the last one is ${last}`)
    this.acknowledged = acknowledged
    this.last = last
  }
}

/** The stream does not continue what a replica has read: it lost messages, which the writer publishes again. */
export class StreamDiverged extends CairnError {
  /** Sequence of the last message that was read. */
  readonly sequence: number
  constructor(stream: string, sequence: number, found: string) {
    super(`stream ${stream}: expected message ${sequence} as it was read, got ${found}: the stream lost messages`)
    this.sequence = sequence
  }
}

/** None of a replica's blocks is in the stream, and the stream does not start above them. */
export class NotInStream extends CairnError {
  constructor(stream: string, head: number | undefined) {
    const own = head === undefined ? 'a replica without blocks' : `a replica at block ${head}`
    super(`stream ${stream}: ${own} cannot resume from it: no message of it follows one of the replica's blocks`)
  }
}
