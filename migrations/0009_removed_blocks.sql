CREATE TABLE `removed_blocks` (
	`id` integer PRIMARY KEY NOT NULL,
	`number` integer NOT NULL,
	`hash` blob NOT NULL,
	`parent_hash` blob NOT NULL,
	`logs` blob NOT NULL
);
