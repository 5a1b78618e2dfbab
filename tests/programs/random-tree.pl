#!/usr/bin/perl
# Makes a random tree below the current directory: names, kinds, modes and sizes as projects have them
# and as nobody has them. The same SEED makes the same tree.
#   random-tree.pl SEED
use strict;
use warnings;

srand(shift);
my @letters = ('a' .. 'z', 'A' .. 'Z', 0 .. 9, ' ', '-', '_', '.', ',', '$', '(', "'", '"', '*', '%', '~',
    "\xc3\xa9", "\xc3\x9f", "\xe6\x97\xa5", "\xf0\x9f\x90\xab", "\xd0\xb6");
my (@folders, %taken) = ('');

# A name that is new in its folder also when letter case is ignored.
sub name {
    my $folder = shift;
    for (;;) {
        my $name = join('', map { $letters[rand @letters] } 1 .. (rand() < 0.05 ? 60 : 1 + rand 12));
        next if $name =~ /^\.*$/ || $name =~ /^ | $/ || $name =~ /^[a-zA-Z]:/ || $name =~ /^(\.DS_Store|Thumbs\.db|__MACOSX)$/i;
        next if $name eq '-'; # zip takes it for its standard input
        my $path = $folder eq '' ? $name : "$folder/$name";
        return $path unless length($path) > 200 || $taken{lc $path}++;
    }
}

sub content {
    my $size = (0, 1, 511, 512, 513, 10240, int rand 3000, int rand 100000)[rand 8];
    return rand() < 0.5 ? 'x' x $size : join('', map { chr(rand 256) } 1 .. $size);
}

sub make_file {
    my ($path) = @_;
    open(my $f, '>', $path) or die "$path: $!";
    print $f content();
    close($f);
    chmod((0644, 0600, 0755, 0700)[rand 4], $path);
}

make_file(name(''));
for (1 .. 5 + rand 40) {
    my $folder = $folders[rand @folders];
    my $path = name($folder);
    my $kind = rand;
    if ($kind < 0.3) {
        mkdir($path) or die "$path: $!";
        push(@folders, $path);
    } elsif ($kind < 0.4) { # inside: a name beside it, or one from the top
        my $up = '../' x ($folder eq '' ? 0 : 1 + ($folder =~ tr{/}{}));
        symlink(rand() < 0.5 ? 'anything beside' : "${up}some/where", $path) or die "$path: $!";
    } else {
        make_file($path);
    }
}
