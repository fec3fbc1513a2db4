CREATE TABLE `block_access_lists` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`list` blob NOT NULL
);
