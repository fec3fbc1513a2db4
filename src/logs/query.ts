export type LogSource = {}
