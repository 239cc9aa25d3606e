# Generated from op.yml by opkit. Do not edit: the next build overwrites it.
#
# Variables of ${name} for ppl.nn's build; the other files of this folder include it.

get_filename_component(opkit_repository "$${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(opkit_operator "${key}")
set(opkit_function "${function}")
set(opkit_record "${record}") # written by apply.py into the checkout

$sources
$include
$options
