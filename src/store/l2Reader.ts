/** Reads of the layer-2 column. */
export type L2Reader = {}
