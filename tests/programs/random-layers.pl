#!/usr/bin/perl
# Writes random layers of an image, as tar files 1, 2, 3 … in the current directory: names, modes, owners
# and times as projects have them and as nobody has them; each layer changes and hides what the lower ones
# have in every way there is. The same SEED writes the same layers. Each entry follows its directories.
#   random-layers.pl SEED
use strict;
use warnings;

srand(shift);
my @letters = ('a' .. 'z', 'A' .. 'Z', 0 .. 9, ' ', '-', '_', '.', ',', '$', "'", '*', "\xc3\xa9", "\xe6\x97\xa5");
my %tree = ('' => {type => '5', mode => 0755, uid => 0, gid => 0, mtime => '1000000000'}); # by path, of all layers so far
my (%touched, %written, $out);

sub pick { $_[rand @_] }

# --- tar

sub header {
    my ($e, $name, $type, $size, $target) = @_;
    my $block = pack('a100 a8 a8 a8 a12 a12 a8 a1 a100 a6 a2 x247', substr($name, 0, 100), sprintf('%07o', $e->{mode}),
        sprintf('%07o', $e->{uid}), sprintf('%07o', $e->{gid}), sprintf('%011o', $size),
        sprintf('%011o', int $e->{mtime}), ' ' x 8, $type, substr($target, 0, 100), "ustar\0", '00');
    substr($block, 148, 8) = sprintf("%06o\0 ", unpack('%32C*', $block));
    print $out $block;
}

sub data {
    my $text = shift;
    print $out $text, "\0" x (-length($text) % 512);
}

sub record { # "length key=value\n", where the length counts itself
    my $rest = " $_[0]=$_[1]\n";
    my $length = length $rest;
    $length = length($rest) + length $length for 1 .. 3;
    return $length . $rest;
}

# An entry, with what its header cannot hold before it: as pax, or names as GNU tar writes them.
sub entry {
    my ($path, $e) = @_;
    my ($content, $target) = ($e->{content} // '', $e->{target} // '');
    my $name = $path eq '' ? './' : $e->{type} eq '5' ? "$path/" : $path;
    my %plain = (mode => 0644, uid => 0, gid => 0, mtime => 0);
    my $gnu = $e->{mtime} !~ /\./ && rand() < 0.3;
    my $records = '';
    for ([path => $name, 'L'], [linkpath => $target, 'K']) {
        my ($key, $text, $type) = @$_;
        next if length $text <= 100;
        if ($gnu) {
            header(\%plain, '././@LongLink', $type, 1 + length $text, '');
            data("$text\0");
        } else {
            $records .= record($key, $text);
        }
    }
    $records .= record('mtime', $e->{mtime}) if $e->{mtime} =~ /\./;
    $records .= record("SCHILY.xattr.$_", $e->{xattrs}{$_}) for sort keys %{$e->{xattrs} // {}};
    if ($records ne '') {
        header(\%plain, 'PaxHeaders/entry', 'x', length $records, '');
        data($records);
    }
    header($e, $name, $e->{type}, length $content, $target);
    data($content);
}

# --- what is in it

sub parent { $_[0] =~ m{^(.*)/[^/]*$}s ? $1 : '' }
sub below { my $p = shift; $p eq '' ? grep { $_ ne '' } keys %tree : grep { index($_, "$p/") == 0 } keys %tree }

# One of these paths, the same for the same seed.
sub any { my @paths = sort @_; @paths ? pick(@paths) : undef }

sub attributes {
    my ($type) = @_;
    my %e = (type => $type, uid => pick(0, 0, 0, 1, 1000, 65534), gid => pick(0, 0, 5, 1000),
        mtime => pick(0, 1, 1000000000, int(rand 2000000000), '1234567890.123456789', '1500000000.5'));
    $e{mode} = $type eq '5' ? pick(0755, 0755, 0755, 0700, 01777, 0775, 02755, 0555) : pick(0644, 0644, 0755, 0600, 0, 0444, 04755, 02711, 06755, 0777);
    $e{mode} = 0777 if $type eq '2';
    $e{mode} |= 0055 if $type eq '5' && $e{uid}; # else what is in it would be seen by nobody
    $e{xattrs} = {map { ("user.$_" => pick('x', "with\nline", 'x' x 200)) } 'a' .. pick('a' .. 'c')} if $type =~ /[05]/ && rand() < 0.1;
    $e{content} = pick('', 'x', 'y' x 511, 'z' x 512, join('', map { chr(rand 256) } 1 .. rand 5000)) if $type eq '0';
    $e{target} = pick('nowhere', '/etc', '..', '../..', 'x' x 150, '/a/b/../c') if $type eq '2';
    return \%e;
}

sub new_path {
    my $folder = shift;
    for (;;) {
        my $name = join('', map { pick(@letters) } 1 .. (rand() < 0.1 ? 90 + rand 10 : 1 + rand 10));
        my $path = $folder eq '' ? $name : "$folder/$name";
        return $path unless $name =~ /^\.+$|^\.wh\./ || exists $tree{$path} || exists $touched{$path};
    }
}

sub folders_first {
    my $path = shift;
    my @missing;
    for (my $p = parent($path); ; $p = parent($p)) {
        unshift @missing, $p unless $written{$p}++;
        last if $p eq '';
    }
    for my $p (@missing) {
        $touched{$p} = 1;
        entry($p, $tree{$p});
    }
}

sub put {
    my ($path, $e) = @_;
    folders_first($path);
    delete @tree{below($path)} if $e->{type} ne '5';
    $tree{$path} = $e;
    $touched{$path} = $written{$path} = 1;
    entry($path, $e);
}

sub mark { # WHERE: a mark's name, an empty file
    folders_first($_[0]);
    entry($_[0], {type => '0', mode => pick(0644, 0, 0600), uid => 0, gid => 0, mtime => 0});
}

# Paths of lower layers that this layer has said nothing of, nor of anything below; with one kind.
sub untouched {
    my $kind = shift;
    my %busy = ('' => 1);
    for my $path (keys %touched) {
        for (my $p = $path; $p ne ''; $p = parent($p)) { $busy{$p} = 1 }
    }
    return grep { !$busy{$_} && !/^(etc|dev|proc|tmp)$/ && $tree{$_}{type} =~ $kind } keys %tree;
}

sub folder { any(grep { $tree{$_}{type} eq '5' && !/^(dev|proc|tmp)$/ && length($_) < 600 } keys %tree) }

sub hide {
    my $path = shift;
    mark((parent($path) eq '' ? '' : parent($path) . '/') . '.wh.' . ($path =~ s{.*/}{}sr));
    delete @tree{$path, below($path)};
    $touched{$path} = 1;
}

my %change = (
    file => sub { put(new_path(folder()), attributes('0')) },
    directory => sub { put(new_path(folder()), attributes('5')) },
    symlink => sub { put(new_path(folder()), attributes('2')) },
    hardlink => sub {
        my $to = any(grep { $tree{$_} && $tree{$_}{type} eq '0' } keys %written) // return;
        put(new_path(folder()), {%{$tree{$to}}, type => '1', content => '', target => $to, xattrs => {}});
    },
    again => sub { # another kind, or the same with other attributes
        my $path = any(untouched(qr/./)) // return;
        put($path, attributes(pick('0', '2', '5')));
    },
    hide => sub { hide(any(untouched(qr/./)) // return) },
    'hide and make' => sub {
        my $path = any(untouched(qr/./)) // return;
        my @kinds = $tree{$path}{type} eq '5' ? () : '5'; # podman shows what was in the old one
        hide($path);
        put($path, attributes(pick('0', '2', @kinds)));
    },
    opaque => sub {
        my $path = any(untouched(qr/5/)) // return;
        put($path, attributes('5'));
        mark("$path/.wh..wh..opq");
        delete @tree{below($path)};
        put(new_path($path), attributes('0')) for 0 .. rand 3;
    },
);

for my $number (1 .. 2 + rand 4) {
    (%touched, %written) = ();
    open($out, '>', $number) or die "$number: $!";
    put('etc', attributes('5')) if $number == 1;
    my @changes = ((qw(file directory symlink hardlink)) x 2, $number == 1 ? () : sort keys %change);
    $change{pick(@changes)}->() for 1 .. 10 + rand 40;
    print $out "\0" x 1024;
    close($out) or die "$number: $!";
}
